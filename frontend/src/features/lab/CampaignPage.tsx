import { Stack, Text } from "@mantine/core";
import type { Campaign, LabDevice } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { plural } from "@/lib/format";
import { isOver } from "@/lib/states";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { CampaignHeader } from "./CampaignHeader";
import { CauseDiagram } from "./CauseDiagram";
import { CausePanel } from "./CausePanel";
import { coverageText } from "./labText";
import { NextPanel } from "./NextPanel";
import { useCampaign, useLabDevices } from "./queries";
import { SummaryPanel } from "./SummaryPanel";
import { TestsPanel } from "./TestsPanel";

function Findings({ campaign, device }: { campaign: Campaign; device: LabDevice | undefined }) {
  const { report } = campaign;
  if (!report) return null;
  const units = Object.fromEntries(device?.parameters.map(({ name, unit }) => [name, unit]) ?? []);
  return (
    <>
      {!report.complete && <NextPanel report={report} />}
      <Panel
        title="Causes"
        aside={
          <Text size="xs" c="dimmed">
            {plural(report.causes.length, "cause")}
          </Text>
        }
      >
        {report.causes.length > 0 ? (
          <Stack gap={10}>
            <CauseDiagram causes={report.causes} device={device} />
            <Text size="sm">{coverageText(report)}</Text>
          </Stack>
        ) : (
          <EmptyState title={report.complete ? "Nothing wrong was found" : "Nothing wrong was found so far"}>
            {coverageText(report)}
          </EmptyState>
        )}
      </Panel>
      {report.causes.map((cause) => (
        <CausePanel key={cause.id} campaign={campaign.id} cause={cause} report={report} units={units} />
      ))}
      <SummaryPanel report={report} />
    </>
  );
}

/** One campaign: how far it is, what it found, and on which evidence. */
export function CampaignPage({ id }: { id: string }) {
  const campaign = useCampaign(id);
  const devices = useLabDevices();
  const states = useStates("campaign");
  const deviceOf = (name: string) => devices.data?.items.find((each) => each.name === name);
  return (
    <QueryState query={campaign} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <CampaignHeader campaign={data} device={deviceOf(data.device)} />
          {data.report_problem !== null && (
            <Text size="sm" c="var(--ww-bad)" role="alert">
              {data.report_problem}
            </Text>
          )}
          <Findings campaign={data} device={deviceOf(data.device)} />
          <TestsPanel id={id} running={!isOver(states, data.state)} />
        </Stack>
      )}
    </QueryState>
  );
}
