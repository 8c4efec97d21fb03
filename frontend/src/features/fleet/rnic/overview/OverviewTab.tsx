import { Grid, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Rnic } from "@/lib/api/types";
import type { RangeSearch } from "@/lib/time/range";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useRnicPerformance } from "../../profiles/queries";
import { useChanges, useFindings, useSeries } from "../queries";
import { RnicIncidents } from "../RnicIncidents";
import { withoutFlows } from "../status";
import { WithoutFlows } from "../WithoutFlows";
import { LimitList } from "./LimitList";
import { OverviewCharts } from "./OverviewCharts";

interface Props {
  rnic: UseQueryResult<Rnic>;
  host: string;
  pci: string;
  range: RangeSearch;
  onZoom: (fromMs: number, toMs: number) => void;
  onZoomOut: () => void;
}

/** What is wrong, how close to which limit, since when, and what changed: on one screen. */
export function OverviewTab({ rnic, host, pci, range, onZoom, onZoomOut }: Props) {
  const series = useSeries(host, pci, range);
  const findings = useFindings(host, pci, range);
  const changes = useChanges(host, pci, range);
  const performance = useRnicPerformance(host, pci);
  return (
    <Grid gap={12}>
      <Grid.Col span={{ base: 12, md: 5, xl: 4 }}>
        <Stack gap={12}>
          <Panel title="Limits">
            <QueryState query={rnic} lines={9}>
              {(data) =>
                withoutFlows(data) ? (
                  <EmptyState title="Limits are not judged">
                    They are about flows, masks and contexts of Open vSwitch, which this host does not report.
                  </EmptyState>
                ) : (
                  <LimitList walls={data.walls} nearest={data.nearest_wall} series={series.data} />
                )
              }
            </QueryState>
          </Panel>
          <Panel title="Symptoms and incidents">
            <QueryState query={rnic} lines={5}>
              {(data) => <RnicIncidents rnic={data} />}
            </QueryState>
          </Panel>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7, xl: 8 }}>
        <Panel
          title="Telemetry"
          aside={
            <Text size="xs" c="dimmed">
              drag over a chart to zoom
              {changes.data?.truncated ? " · earlier changes are not shown" : ""}
            </Text>
          }
        >
          {/* As high as the charts: nothing moves when they arrive. */}
          <div style={{ minHeight: 440 }}>
            <QueryState
              query={series}
              lines={12}
              isEmpty={(data) => !Object.values(data.values).some((values) => values.some((value) => value !== null))}
              empty={
                rnic.data && withoutFlows(rnic.data) ? (
                  <WithoutFlows host={host} pci={pci} />
                ) : (
                  <EmptyState title="No data in this range">
                    Choose a longer range, or check under Hosts whether the host still reports.
                  </EmptyState>
                )
              }
            >
              {(data) => (
                <OverviewCharts
                  series={data}
                  findings={findings.data ?? []}
                  changes={changes.data?.items ?? []}
                  walls={rnic.data?.walls ?? []}
                  performance={performance.data}
                  onZoom={onZoom}
                  onZoomOut={onZoomOut}
                />
              )}
            </QueryState>
          </div>
        </Panel>
      </Grid.Col>
    </Grid>
  );
}
