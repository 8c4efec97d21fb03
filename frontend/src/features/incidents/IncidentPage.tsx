import { Grid, Stack } from "@mantine/core";
import { PlanPanel } from "@/features/plans/PlanPanel";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { BeforePanel } from "./BeforePanel";
import { ContainersPanel } from "./ContainersPanel";
import { EvidencePanel } from "./EvidencePanel";
import { ExplanationPanel } from "./ExplanationPanel";
import { FindingsPanel } from "./FindingsPanel";
import { HypothesisList } from "./HypothesisList";
import { IncidentHeader } from "./IncidentHeader";
import { IncidentRemedies } from "./IncidentRemedies";
import { useIncident } from "./queries";
import { SimilarPanel } from "./SimilarPanel";
import { Timeline } from "./Timeline";

/** What, where, since when; why, with evidence; whom it hits; what to do; what was done. */
export function IncidentPage({ id }: { id: string }) {
  const incident = useIncident(id);
  return (
    <QueryState query={incident} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <IncidentHeader incident={data} />
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, md: 7 }}>
              <Stack gap={12}>
                <ExplanationPanel incident={data} />
                <Panel title="Likely causes" aside={<span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>probability after the evidence; the tick marks it before</span>}>
                  <HypothesisList hypotheses={data.hypotheses} symptom={data.symptom} />
                </Panel>
                <EvidencePanel key={data.id} incident={data} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <Stack gap={12}>
                <Panel title="Remedies">
                  <IncidentRemedies incident={data} />
                </Panel>
                {data.pci !== "" && data.symptoms.includes("S6") && <PlanPanel host={data.host} pci={data.pci} incidentId={data.id} />}
                <Panel title="Timeline">
                  <Timeline incident={data} />
                </Panel>
                <BeforePanel id={data.id} />
                <SimilarPanel id={data.id} />
              </Stack>
            </Grid.Col>
          </Grid>
          <FindingsPanel incident={data} />
          <ContainersPanel id={data.id} />
        </Stack>
      )}
    </QueryState>
  );
}
