import { Grid, Group, SegmentedControl, Text } from "@mantine/core";
import { useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { WallValue } from "@/lib/api/types";
import { formatTime } from "@/lib/time/format";
import { DEFAULT_RANGE, type RangeName, RANGES, type RangeSearch } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { useFindings, useSeries } from "./queries";
import { CHARTS, toModel } from "./seriesModels";

interface Props {
  host: string;
  pci: string;
  range: RangeSearch;
  onRange: (range: RangeSearch) => void;
  walls: readonly WallValue[];
}

export function SeriesPanels({ host, pci, range, onRange, walls }: Props) {
  const series = useSeries(host, pci, range);
  const findings = useFindings(host, pci, range);
  const { time, zone } = useTimeFormat();
  const fixed = range.from !== undefined && range.to !== undefined;
  const models = useMemo(() => {
    const data = series.data;
    if (!data) return null;
    const formats = {
      axis: (ms: number) => formatTime(ms, zone).slice(11, 19).replace(/:00$/, ""),
      tooltip: (ms: number) => formatTime(ms, zone),
    };
    return CHARTS.map((spec) => ({ spec, model: toModel(spec, data, findings.data ?? [], walls, formats) }));
  }, [series.data, findings.data, walls, zone]);
  return (
    <section aria-label="Series">
      <Group justify="space-between" mb={8}>
        <Text size="sm" c="dimmed">
          {fixed ? `${time(range.from)} to ${time(range.to)}` : "Live"} · shaded where a symptom was present
        </Text>
        <SegmentedControl
          aria-label="Time range"
          value={fixed ? "" : (range.range ?? DEFAULT_RANGE)}
          onChange={(value) => onRange({ range: value as RangeName })}
          data={Object.keys(RANGES).map((name) => ({ value: name, label: name }))}
        />
      </Group>
      {series.error && !series.data && <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />}
      <Grid gap={12} hidden={Boolean(series.error && !series.data)}>
        {CHARTS.map((spec, i) => (
          <Grid.Col key={spec.key} span={{ base: 12, md: 6, xl: 4 }}>
            <Panel title={spec.title}>
              <QueryState
                query={series}
                lines={6}
                isEmpty={(data) => !spec.fields.some(({ name }) => data.values[name]?.some((value) => value !== null))}
                empty={
                  <EmptyState title="No data in this range">
                    Choose a longer range, or check under Hosts whether the host still reports.
                  </EmptyState>
                }
              >
                {() => (models?.[i] ? <SeriesChart model={models[i].model} title={spec.title} /> : null)}
              </QueryState>
            </Panel>
          </Grid.Col>
        ))}
      </Grid>
    </section>
  );
}
