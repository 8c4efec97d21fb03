import { Select, Slider, Stack, Table, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { SurfacePoint } from "@/charts/surface/model";
import type { Profile } from "@/lib/api/types";
import { formatHeadroom, formatNumber, formatShare } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { estimateText, queriesOf } from "./profileText";
import { usePrediction, useProfile, useProfiles } from "./queries";

const MOST_MASKS = 200;
const MOST_FLOWS = 20_000;
const SETTLE_MS = 150;

function Labelled({
  label,
  value,
  max,
  step,
  onChange,
}: {
  label: string;
  value: number;
  max: number;
  step: number;
  onChange: (value: number) => void;
}) {
  return (
    <div>
      <Text size="sm">
        {label}: <b>{formatNumber(value)}</b>
      </Text>
      <Slider
        thumbLabel={label}
        value={value}
        min={step === 1 ? 1 : 0}
        max={max}
        step={step}
        onChange={onChange}
        label={null}
      />
    </div>
  );
}

/** Sliders: so many flows and masks, on this model or on another. */
export function WhatIfPanel({
  profile,
  onAsked,
}: {
  profile: Profile;
  onAsked: (point: SurfacePoint | undefined) => void;
}) {
  const [own, setOwn] = useState(20);
  const [peers, setPeers] = useState(20);
  const [flows, setFlows] = useState(5_000);
  const [other, setOther] = useState<string | null>(null);
  const [[left, right]] = useDebouncedValue([own, peers] as const, SETTLE_MS);
  const models = useProfiles();
  const compared = useProfile(other ?? profile.model);
  const here = usePrediction(profile.model, queriesOf(left), queriesOf(right));
  const there = usePrediction(other ?? profile.model, queriesOf(left), queriesOf(right));

  useEffect(() => {
    onAsked({ label: "What if", qL: queriesOf(left), qR: queriesOf(right), note: `${left} and ${right} masks` });
    return () => onAsked(undefined);
  }, [left, right, onAsked]);

  const columns = [{ name: profile.model, prediction: here.data, limits: profile.limits, head: profile.head_gbps }];
  if (other && compared.data?.model === other)
    columns.push({ name: other, prediction: there.data, limits: compared.data.limits, head: compared.data.head_gbps });
  const headroom = (limits: Profile["limits"], wall: string, value: number) => {
    const limit = limits.find((each) => each.wall === wall);
    return formatHeadroom(limit ? 1 - value / limit.value : null);
  };
  return (
    <Panel
      title="What if"
      aside={<span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>traffic spread evenly over the masks</span>}
    >
      <Stack gap={10}>
        <Labelled label="Egress masks here" value={own} max={MOST_MASKS} step={1} onChange={setOwn} />
        <Labelled label="Ingress masks at the peers" value={peers} max={MOST_MASKS} step={1} onChange={setPeers} />
        <Labelled label="Offloaded flows" value={flows} max={MOST_FLOWS} step={100} onChange={setFlows} />
        <Select
          label="Another model"
          size="xs"
          clearable
          placeholder="none"
          value={other}
          onChange={setOther}
          data={(models.data ?? []).map(({ model }) => model).filter((model) => model !== profile.model)}
        />
        {here.isError && <ProblemNotice error={here.error} onRetry={() => void here.refetch()} />}
        <HeadedTable label="Prediction" titles={["Quantity", ...columns.map(({ name }) => name)]}>
          <Table.Tr>
            <Table.Th scope="row">Bandwidth</Table.Th>
            {columns.map(({ name, prediction, head }) => (
              <Table.Td key={name} data-what="bandwidth">
                {prediction
                  ? `${estimateText(prediction.bandwidth_gbps, "Gbit/s")}, ${formatShare(prediction.bandwidth_gbps.value / head)} of the value at the head`
                  : "…"}
              </Table.Td>
            ))}
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row">Latency</Table.Th>
            {columns.map(({ name, prediction }) => (
              <Table.Td key={name}>{prediction ? estimateText(prediction.latency_us, "µs") : "…"}</Table.Td>
            ))}
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row">Egress masks</Table.Th>
            {columns.map(({ name, limits }) => (
              <Table.Td key={name}>{headroom(limits, "egress_masks", own)}</Table.Td>
            ))}
          </Table.Tr>
          <Table.Tr>
            <Table.Th scope="row">Offloaded flows</Table.Th>
            {columns.map(({ name, limits }) => (
              <Table.Td key={name}>{headroom(limits, "offloaded_flows", flows)}</Table.Td>
            ))}
          </Table.Tr>
        </HeadedTable>
        <Text size="xs" c="dimmed">
          {here.data && `95% intervals; ${here.data.basis}.`}
          {here.data?.extrapolated && " More lookups than the profile was fitted to: extrapolated."}
        </Text>
      </Stack>
    </Panel>
  );
}
