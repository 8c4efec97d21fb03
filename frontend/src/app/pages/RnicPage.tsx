import { Grid, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ForecastPanel } from "@/features/fleet/forecasts/ForecastPanel";
import { ExpectedPanel } from "@/features/fleet/profiles/ExpectedPanel";
import { ChainPanel } from "@/features/fleet/rnic/ChainPanel";
import { useRnic } from "@/features/fleet/rnic/queries";
import { RnicHeader } from "@/features/fleet/rnic/RnicHeader";
import { RnicIncidents } from "@/features/fleet/rnic/RnicIncidents";
import { SeriesPanels } from "@/features/fleet/rnic/SeriesPanels";
import { WallBars } from "@/features/fleet/rnic/WallBars";
import { VfPanel } from "@/features/fleet/vfs/VfPanel";
import type { VfView } from "@/features/fleet/vfs/vfView";
import { ContentionPanel } from "@/features/functions/card/ContentionPanel";
import { PlanPanel } from "@/features/plans/PlanPanel";
import { RnicPolicies } from "@/features/policies/states/RnicPolicies";
import type { RangeSearch } from "@/lib/time/range";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";

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
          <Link to="/">See which RNICs report</Link>
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
          <Panel
            title="Walls"
            aside={
              <span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>
                hardware limits past which the RNIC’s behaviour degrades sharply
              </span>
            }
          >
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
      <ContentionPanel host={host} pci={pci} />
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
