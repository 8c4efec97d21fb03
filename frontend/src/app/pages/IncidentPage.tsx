import { Grid, Stack } from "@mantine/core";
import { BeforePanel } from "@/features/incidents/detail/BeforePanel";
import { ContainersPanel } from "@/features/incidents/detail/ContainersPanel";
import { FindingsPanel } from "@/features/incidents/detail/FindingsPanel";
import { FixPanel } from "@/features/incidents/detail/FixPanel";
import { IncidentHeader } from "@/features/incidents/detail/IncidentHeader";
import { SimilarPanel } from "@/features/incidents/detail/SimilarPanel";
import { Timeline } from "@/features/incidents/detail/Timeline";
import { WhatPanel } from "@/features/incidents/detail/WhatPanel";
import { EvidencePanel } from "@/features/incidents/evidence/EvidencePanel";
import { HypothesisList } from "@/features/incidents/evidence/HypothesisList";
import { PlanControl } from "@/features/plans/PlanControl";
import { PlanPanel } from "@/features/plans/PlanPanel";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useTitle } from "@/lib/ui/useTitle";
import { useIncident } from "@/shared/incidents/queries";
import { ConfirmInLab } from "@/shared/lab/ConfirmInLab";
import classes from "./IncidentPage.module.css";

/** What, why and how to fix it, first and next to one another; below that the evidence, what was done, and whom it hits. */
export function IncidentPage({ id }: { id: string }) {
  const incident = useIncident(id);
  useTitle(incident.data?.title ?? "Incident");
  return (
    <QueryState query={incident} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <IncidentHeader incident={data} />
          <div className={classes["triage"]}>
            <WhatPanel incident={data} />
            <Panel title="Why" aside={<span className={classes["aside"]}>likely causes by confidence</span>}>
              <HypothesisList
                hypotheses={data.hypotheses}
                symptom={data.symptom}
                confirm={(cause) => <ConfirmInLab cause={cause} incidentId={data.id} />}
              />
            </Panel>
            <FixPanel
              incident={data}
              planControl={(primary) => (
                <PlanControl host={data.host} pci={data.pci} incidentId={data.id} primary={primary} />
              )}
            />
          </div>
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, md: 7 }}>
              <Stack gap={12}>
                <EvidencePanel key={data.id} incident={data} />
                <BeforePanel incident={data} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <Stack gap={12}>
                {data.pci !== "" && data.symptoms.includes("S6") && (
                  <PlanPanel host={data.host} pci={data.pci} incidentId={data.id} />
                )}
                <Panel title="Timeline">
                  <Timeline incident={data} />
                </Panel>
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
