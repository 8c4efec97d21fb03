import { Grid } from "@mantine/core";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { VfHistory } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { useWords } from "../useWords";
import type { Episode } from "./episodes";
import { hasValues, toCharts } from "./vfModels";

interface Props {
  history: VfHistory;
  episodes: readonly Episode[];
  from: string;
  to: string;
}

const PANELS = [
  {
    key: "rates",
    title: "Rates",
    empty: "The collector has no byte counters of this VF in this range.",
  },
  {
    key: "delay",
    title: "Delay",
    empty: "Agents measure delay with probes between hosts; enable probes in the agent's configuration.",
  },
  {
    key: "share",
    title: "Share of the RNIC",
    empty: "Shares are derived while the RNIC is under load.",
  },
] as const;

/** Three charts on one time axis, shaded where the VF suffered or made others suffer. */
export function VfCharts({ history, episodes, from, to }: Props) {
  const { zone } = useTimeFormat();
  const words = useWords();
  const charts = useMemo(
    () =>
      toCharts(
        history,
        episodes,
        { from, to },
        {
          axis: (ms) => formatTime(ms, zone).slice(11, 19).replace(/:00$/, ""),
          tooltip: (ms) => formatTime(ms, zone),
          role: (role) => words.role(role).label,
        },
      ),
    [history, episodes, from, to, zone, words],
  );
  return (
    <Grid gap={12}>
      {PANELS.map(({ key, title, empty }) => (
        <Grid.Col key={key} span={{ base: 12, md: 6, lg: 4 }}>
          <Panel title={title}>
            {hasValues(charts[key]) ? (
              <SeriesChart model={charts[key]} title={title} />
            ) : (
              <EmptyState title="No data in this range">{empty}</EmptyState>
            )}
          </Panel>
        </Grid.Col>
      ))}
    </Grid>
  );
}
