import { Grid, Stack } from "@mantine/core";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { EvidenceTable } from "./EvidenceTable";
import { HypothesisList } from "./HypothesisList";
import { IncidentHeader } from "./IncidentHeader";
import { IncidentRemedies } from "./IncidentRemedies";
import { useIncident } from "./queries";
import { Timeline } from "./Timeline";

/** What, where, since when; why, with evidence; what to do; what was done. */
export function IncidentPage({ id }: { id: string }) {
  const incident = useIncident(id);
  return (
    <QueryState query={incident} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <IncidentHeader incident={data} />
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <Stack gap={12}>
                <Panel title="Likely causes" aside={<span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>probability after the evidence; the tick marks it before</span>}>
                  <HypothesisList hypotheses={data.hypotheses} />
                </Panel>
                <Panel title="Evidence" flush>
                  <EvidenceTable evidence={data.evidence} />
                </Panel>
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <Stack gap={12}>
                <Panel title="Remedies">
                  <IncidentRemedies incident={data} />
                </Panel>
                <Panel title="Timeline">
                  <Timeline incident={data} />
                </Panel>
              </Stack>
            </Grid.Col>
          </Grid>
        </Stack>
      )}
    </QueryState>
  );
}
