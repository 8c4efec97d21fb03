import "@/lib/ui/mantineMore.css";
import { Grid } from "@mantine/core";
import { useId, useMemo } from "react";
import { SeriesChart } from "@/charts/series/SeriesChart";
import type { WallValue } from "@/lib/api/types";
import type { RangeSearch } from "@/lib/time/range";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { useFindings, useSeries } from "./queries";
import { CHARTS, toModel } from "./seriesModels";
import { timeFormats } from "./timeFormats";
import { useOpenIncident } from "./useOpenIncident";
import { WithoutFlows } from "./WithoutFlows";

interface Props {
  host: string;
  pci: string;
  range: RangeSearch;
  walls: readonly WallValue[];
  /** The host reports no flows now; it may have, in the range that is shown. */
  withoutFlows: boolean;
  onZoom: (fromMs: number, toMs: number) => void;
  onZoomOut: () => void;
}

/** What of the RNIC's series is about flows and masks, with one crosshair. */
export function SeriesPanels({ host, pci, range, walls, withoutFlows, onZoom, onZoomOut }: Props) {
  const group = useId();
  const openIncident = useOpenIncident();
  const series = useSeries(host, pci, range);
  const findings = useFindings(host, pci, range);
  const { zone } = useTimeFormat();
  const models = useMemo(() => {
    const data = series.data;
    if (!data) return null;
    const formats = timeFormats(zone, Date.parse(data.from), Date.parse(data.to));
    return CHARTS.map((spec) => toModel(spec, data, findings.data ?? [], walls, formats));
  }, [series.data, findings.data, walls, zone]);
  const measured = Object.values(series.data?.values ?? {}).some((values) => values.some((value) => value !== null));
  if (withoutFlows && series.data && !measured) {
    return (
      <Panel title="Flows and masks">
        <WithoutFlows host={host} pci={pci} />
      </Panel>
    );
  }
  return (
    <section aria-label="Series">
      {series.error && !series.data && <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />}
      <Grid gap={12} hidden={Boolean(series.error && !series.data)}>
        {CHARTS.map((spec, i) => {
          const model = models?.[i];
          return (
            <Grid.Col key={spec.key} span={{ base: 12, md: 6, xl: 4 }}>
              <Panel title={spec.title}>
                <QueryState
                  query={series}
                  lines={6}
                  isEmpty={(data) =>
                    !spec.fields.some(({ name }) => data.values[name]?.some((value) => value !== null))
                  }
                  empty={
                    <EmptyState title="No data in this range">
                      Choose a longer range, or check under Hosts whether the host still reports.
                    </EmptyState>
                  }
                >
                  {() =>
                    model && (
                      <SeriesChart
                        model={model}
                        title={spec.title}
                        group={group}
                        onZoom={onZoom}
                        onZoomOut={onZoomOut}
                        onOpen={openIncident}
                      />
                    )
                  }
                </QueryState>
              </Panel>
            </Grid.Col>
          );
        })}
      </Grid>
    </section>
  );
}
