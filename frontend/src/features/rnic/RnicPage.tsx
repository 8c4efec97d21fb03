import { Grid, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ForecastPanel } from "@/features/forecasts/ForecastPanel";
import { PlanPanel } from "@/features/plans/PlanPanel";
import { ExpectedPanel } from "@/features/profiles/ExpectedPanel";
import { RnicPolicies } from "@/features/policies/RnicPolicies";
import { QueryState } from "@/lib/ui/QueryState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { ChainPanel } from "./ChainPanel";
import { useRnic } from "./queries";
import type { RangeSearch } from "./range";
import { RnicHeader } from "./RnicHeader";
import { RnicIncidents } from "./RnicIncidents";
import { SeriesPanels } from "./SeriesPanels";
import { VfPanel } from "./VfPanel";
import type { VfView } from "./vfView";
import { WallBars } from "./WallBars";

interface Props {
  host: string;
  pci: string;
  range: RangeSearch;
  onRange: (range: RangeSearch) => void;
  vfs: VfView;
  onVfs: (view: VfView) => void;
}

export function RnicPage({ host, pci, range, onRange, vfs, onVfs }: Props) {
  const rnic = useRnic(host, pci);
  if (rnic.error && !rnic.data) {
    return (
      <Stack gap={12}>
        <Title order={1}>
          {host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{pci}</span>
        </Title>
        <ProblemNotice error={rnic.error} onRetry={() => void rnic.refetch()} />
        <Text size="sm">
          <Link to="/">See which RNICs report on the wall</Link>
        </Text>
      </Stack>
    );
  }
  return (
    <Stack gap={12}>
      <QueryState query={rnic} lines={2}>
        {(data) => <RnicHeader rnic={data} />}
      </QueryState>
      <Grid gap={12}>
        <Grid.Col span={{ base: 12, xl: 7 }}>
          <Panel title="Walls" aside={<span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>current value against the limit</span>}>
            <QueryState query={rnic} lines={5}>
              {(data) => <WallBars walls={data.walls} nearest={data.nearest_wall} />}
            </QueryState>
          </Panel>
        </Grid.Col>
        <Grid.Col span={{ base: 12, xl: 5 }}>
          <Panel title="Symptoms and incidents">
            <QueryState query={rnic} lines={5}>
              {(data) => <RnicIncidents rnic={data} />}
            </QueryState>
          </Panel>
        </Grid.Col>
      </Grid>
      <ForecastPanel host={host} pci={pci} />
      <ExpectedPanel host={host} pci={pci} />
      <SeriesPanels host={host} pci={pci} range={range} onRange={onRange} walls={rnic.data?.walls ?? []} />
      <RnicPolicies host={host} pci={pci} range={range} />
      <ChainPanel host={host} pci={pci} />
      <PlanPanel host={host} pci={pci} />
      <VfPanel host={host} pci={pci} view={vfs} onView={onVfs} />
    </Stack>
  );
}
