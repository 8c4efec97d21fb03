import { Grid, Stack } from "@mantine/core";
import { BeforePanel } from "@/features/incidents/detail/BeforePanel";
import { ContainersPanel } from "@/features/incidents/detail/ContainersPanel";
import { ExplanationPanel } from "@/features/incidents/detail/ExplanationPanel";
import { FindingsPanel } from "@/features/incidents/detail/FindingsPanel";
import { IncidentHeader } from "@/features/incidents/detail/IncidentHeader";
import { IncidentRemedies } from "@/features/incidents/detail/IncidentRemedies";
import { SimilarPanel } from "@/features/incidents/detail/SimilarPanel";
import { Timeline } from "@/features/incidents/detail/Timeline";
import { EvidencePanel } from "@/features/incidents/evidence/EvidencePanel";
import { HypothesisList } from "@/features/incidents/evidence/HypothesisList";
import { PlanControl } from "@/features/plans/PlanControl";
import { PlanPanel } from "@/features/plans/PlanPanel";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useTitle } from "@/lib/ui/useTitle";
import { useIncident } from "@/shared/incidents/queries";
import { ConfirmInLab } from "@/shared/lab/ConfirmInLab";

/** What, where, since when; why, with evidence; whom it hits; what to do; what was done. */
export function IncidentPage({ id }: { id: string }) {
  const incident = useIncident(id);
  useTitle(incident.data?.title ?? "Incident");
  return (
    <QueryState query={incident} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <IncidentHeader incident={data} />
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, md: 7 }}>
              <Stack gap={12}>
                <ExplanationPanel incident={data} />
                <Panel
                  title="Likely causes"
                  aside={
                    <span style={{ fontSize: "0.75rem", color: "var(--ww-dim)" }}>
                      confidence; the tick marks it before the evidence
                    </span>
                  }
                >
                  <HypothesisList
                    hypotheses={data.hypotheses}
                    symptom={data.symptom}
                    confirm={(cause) => <ConfirmInLab cause={cause} incidentId={data.id} />}
                  />
                </Panel>
                <EvidencePanel key={data.id} incident={data} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <Stack gap={12}>
                <Panel title="Remedies">
                  <IncidentRemedies
                    incident={data}
                    planControl={(primary) => (
                      <PlanControl host={data.host} pci={data.pci} incidentId={data.id} primary={primary} />
                    )}
                  />
                </Panel>
                {data.pci !== "" && data.symptoms.includes("S6") && (
                  <PlanPanel host={data.host} pci={data.pci} incidentId={data.id} />
                )}
                <Panel title="Timeline">
                  <Timeline incident={data} />
                </Panel>
                <BeforePanel incident={data} />
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
