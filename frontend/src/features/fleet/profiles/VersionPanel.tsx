import { Button, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { useMemo } from "react";
import { ResidualChart } from "@/charts/residuals/ResidualChart";
import type { ProfileFit, ProfileVersion } from "@/lib/api/types";
import { formatNumber, formatShare, MISSING } from "@/lib/format";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SOURCES, STATES } from "./profileText";
import { useVersion } from "./queries";

const NOT_IDENTIFIABLE = "not identifiable from this data";

function intervalText({ lower, upper, identified }: ProfileFit["parameters"][string]): string {
  return lower === null || upper === null
    ? NOT_IDENTIFIABLE
    : `${formatNumber(lower)} to ${formatNumber(upper)}${identified ? "" : `, ${NOT_IDENTIFIABLE}`}`;
}

/** As the equations name them. */
const ORDER = "uvmnwabc";

function inOrder<T>(parameters: Record<string, T>): [string, T][] {
  return Object.entries(parameters).sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
}

function FitDetails({ fit }: { fit: ProfileFit }) {
  const points = useMemo(
    () =>
      fit.points.map((point) => ({
        at: point.q_l + point.q_r,
        fitted: point.relative,
        current: point.current / point.measured - 1,
        label: point.source,
      })),
    [fit],
  );
  const title = fit.quantity === "bandwidth" ? "Bandwidth" : "Latency";
  return (
    <section aria-label={title}>
      <Text fw={600} size="sm">
        {title} of {fit.verb}, {formatNumber(fit.message_bytes)} bytes per message: R²{" "}
        {fit.r_squared === null ? MISSING : fit.r_squared.toFixed(4)}, error {formatShare(fit.relative_error)}
        {fit.left_out_error !== null && `, ${formatShare(fit.left_out_error)} at points left out of the fit`}
      </Text>
      <StatusMark tone={fit.accepted ? "good" : "bad"}>{fit.accepted ? "accepted" : "refused"}</StatusMark>
      <Text size="sm">{fit.reason}</Text>
      {fit.notes.map((note) => (
        <Text key={note} size="xs" c="dimmed">
          {note}
        </Text>
      ))}
      <HeadedTable
        label={`Parameters of ${fit.quantity}`}
        titles={["Parameter", "Fitted", `${fit.level * 100}% interval`, "Previous"]}
      >
        {inOrder(fit.parameters).map(([name, parameter]) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td>{formatNumber(parameter.value)}</Table.Td>
            <Table.Td>{intervalText(parameter)}</Table.Td>
            <Table.Td>{formatNumber(parameter.current)}</Table.Td>
          </Table.Tr>
        ))}
      </HeadedTable>
      <ResidualChart points={points} title={`Residuals of ${fit.quantity}`} />
      <ScrollArea.Autosize
        mah={360}
        type="auto"
        viewportProps={{ tabIndex: 0, role: "group", "aria-label": `Points of ${fit.quantity}` }}
      >
        <HeadedTable
          label={`Points of ${fit.quantity}`}
          titles={["Source", "Q local", "Q remote", `Measured [${fit.unit}]`, "Fitted", "Error", "Previous error"]}
        >
          {fit.points.map((point, i) => (
            <Table.Tr key={`${point.source} ${i}`}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{point.source}</Table.Td>
              <Table.Td>{formatNumber(point.q_l)}</Table.Td>
              <Table.Td>{formatNumber(point.q_r)}</Table.Td>
              <Table.Td>{formatNumber(point.measured)}</Table.Td>
              <Table.Td>{formatNumber(point.fitted)}</Table.Td>
              <Table.Td>{formatShare(point.relative)}</Table.Td>
              <Table.Td>{formatShare(point.current / point.measured - 1)}</Table.Td>
            </Table.Tr>
          ))}
        </HeadedTable>
      </ScrollArea.Autosize>
    </section>
  );
}

function Details({ version }: { version: ProfileVersion }) {
  const { calibration } = version;
  if (!calibration) {
    return (
      <Text size="sm">
        The parameters of ScalaCN’s Table 3, with a goodness of {version.parameters?.goodness.toFixed(2)}. Neither
        points nor intervals are published.
      </Text>
    );
  }
  const fits = [calibration.bandwidth, calibration.latency].filter((fit) => fit !== null);
  return (
    <Stack gap={14}>
      <Text size="sm">
        {SOURCES[version.source]},{" "}
        <StatusMark tone={STATES[version.state].tone}>{STATES[version.state].word}</StatusMark>
      </Text>
      {fits.map((fit) => (
        <FitDetails key={fit.quantity} fit={fit} />
      ))}
      <ul style={{ margin: 0, paddingInlineStart: 18, fontSize: "0.75rem", color: "var(--ww-dim)" }}>
        {[...calibration.problems, ...calibration.notes, ...calibration.assumptions].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Stack>
  );
}

/** A version with everything that its calibration says. */
export function VersionPanel({ model, number, onClose }: { model: string; number: number; onClose: () => void }) {
  const version = useVersion(model, number);
  return (
    <Panel
      title={`Version ${number}`}
      actions={
        <Button size="compact-xs" variant="default" onClick={onClose}>
          Close
        </Button>
      }
    >
      <QueryState query={version} lines={8}>
        {(data) => <Details version={data} />}
      </QueryState>
    </Panel>
  );
}
