import { Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { VfHistory } from "@/lib/api/types";
import { DEFAULT_RANGE, type RangeName, RANGES, type RangeSearch, toInterval } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { useVfIsolation } from "../queries";
import { EpisodeTable } from "./EpisodeTable";
import { toEpisodes } from "./episodes";
import { HolderTable } from "./HolderTable";
import { VfCharts } from "./VfCharts";
import { listedText, VfHeader } from "./VfHeader";

interface Props {
  host: string;
  pci: string;
  vf: number;
  range: RangeSearch;
  onRange: (range: RangeSearch) => void;
}

interface FoundProps extends Pick<Props, "range" | "onRange"> {
  history: VfHistory;
  updatedAt: number;
}

function Found({ history, updatedAt, range, onRange }: FoundProps) {
  const episodes = useMemo(() => toEpisodes(history.broken), [history.broken]);
  const { time } = useTimeFormat();
  const fixed = range.from !== undefined && range.to !== undefined;
  const { from, to } = toInterval(range, updatedAt);
  return (
    <>
      <VfHeader vf={history} />
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {fixed ? `${time(range.from)} to ${time(range.to)}` : "Live"} · shaded where it suffered or made others suffer
        </Text>
        <SegmentedControl
          aria-label="Time range"
          value={fixed ? "" : (range.range ?? DEFAULT_RANGE)}
          onChange={(value) => onRange({ range: value as RangeName })}
          data={Object.keys(RANGES).map((name) => ({ value: name, label: name }))}
        />
      </Group>
      <VfCharts history={history} episodes={episodes} from={from} to={to} />
      <Panel
        title="Who did it"
        flush={episodes.length > 0}
        aside={
          <Text size="xs" c="dimmed">
            {listedText(history, episodes.length)}
          </Text>
        }
      >
        {episodes.length > 0 ? (
          <EpisodeTable episodes={episodes} host={history.host} pci={history.pci} />
        ) : (
          <EmptyState title="No promise was broken in this range">
            {history.slo
              ? "Neither did this VF suffer, nor did it make others suffer. Choose a longer range to look further back."
              : "Nothing is promised to this VF, and it did not make others suffer."}
          </EmptyState>
        )}
      </Panel>
      <Panel title="Pods that held this VF" flush={history.holders.length > 0}>
        {history.holders.length > 0 ? (
          <HolderTable holders={history.holders} />
        ) : (
          <EmptyState title="No pod is known to have held this VF in this range">
            The CNI plugin wallwatch-cni reports which pod gets which VF; it must be last in the plugin chain.
          </EmptyState>
        )}
      </Panel>
    </>
  );
}

/** One VF: what it got of what it was promised, and who took it. */
export function VfPage({ host, pci, vf, range, onRange }: Props) {
  const history = useVfIsolation(host, pci, vf, range);
  if (history.error && !history.data)
    return (
      <Stack gap={12}>
        <Title order={1}>
          VF {vf} of {host} {pci}
        </Title>
        <ProblemNotice error={history.error} onRetry={() => void history.refetch()} />
        <Text size="sm">
          <Link to="/tenants/rnics/$host/$pci" params={{ host, pci }}>
            See all VFs of this RNIC
          </Link>
        </Text>
      </Stack>
    );
  return (
    <Stack gap={12}>
      <QueryState query={history} lines={12}>
        {(data) => (
          <Stack gap={12}>
            <Found history={data} updatedAt={history.dataUpdatedAt} range={range} onRange={onRange} />
          </Stack>
        )}
      </QueryState>
    </Stack>
  );
}
