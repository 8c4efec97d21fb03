import { Anchor, Button, Group, Progress, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Campaign, LabDevice } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { isOver, sentenceOf } from "@/lib/states";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useMayChange } from "@/shared/session";
import { useMayRun } from "./access";
import { ApprovalPanel } from "./ApprovalPanel";
import { CampaignState } from "./CampaignState";
import { asSentence, doneText, effortText, phaseText, progressText, tookText, usedShare } from "./labText";
import { useLabDevices, useStopCampaign } from "./queries";
import { ResultActions } from "./ResultActions";

function Effort({ campaign, device, running }: { campaign: Campaign; device?: LabDevice; running: boolean }) {
  const { brute_force_tests: bruteForce, options, progress, report } = campaign;
  if (bruteForce === null) return null;
  const varied = report?.varied ?? options.parameters ?? device?.parameters.map(({ name }) => name) ?? null;
  const { text, saved } = effortText(bruteForce, progress.tests - (report?.resets ?? 0), varied);
  return (
    <Text size="sm">
      {text}
      {saved !== null && (
        <>
          : <b>{saved} fewer</b>
          {running && " so far"}
        </>
      )}
      .
    </Text>
  );
}

function ProgressPanel({ campaign, device }: { campaign: Campaign; device?: LabDevice }) {
  const { progress, state } = campaign;
  const running = state === "running";
  const spent = Object.values(progress.phases).reduce((sum, count) => sum + count, 0);
  return (
    <Panel title="Progress">
      <Text size="sm" role="status" mb={6}>
        {running ? progressText(campaign) : `${doneText(campaign)} in ${tookText(campaign)}`}
        {running && progress.phase !== null && ` · ${phaseText(progress.phase)}`}
      </Text>
      {running && (
        <Progress
          value={100 * usedShare(campaign)}
          size="sm"
          mb={8}
          aria-label="Budget used; the search usually ends earlier"
        />
      )}
      <Effort campaign={campaign} device={device} running={running} />
      {spent > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {Object.entries(progress.phases)
            .map(([phase, count]) => `${phaseText(phase)} ${count.toLocaleString("en")}`)
            .join(" · ")}
        </Text>
      )}
    </Panel>
  );
}

/** What is tested, in which state, how far, and what can be done with it. */
export function CampaignHeader({ campaign, device }: { campaign: Campaign; device: LabDevice | undefined }) {
  const { time } = useTimeFormat();
  const states = useStates("campaign");
  const mayChange = useMayChange();
  const mayRun = useMayRun();
  const mayStop = mayRun(useLabDevices().data?.run_role);
  const stop = useStopCampaign(campaign.id);
  const over = isOver(states, campaign.state);
  const { options } = campaign;
  const downloads = `/api/v1/lab/campaigns/${campaign.id}`;
  return (
    <>
      <header>
        <Group justify="space-between" align="flex-start">
          <Group gap="sm">
            <Title order={1}>Lab campaign on {campaign.device}</Title>
            <span data-testid="campaign-state" data-state={campaign.state}>
              <CampaignState campaign={campaign} />
            </span>
          </Group>
          <Group gap={8}>
            {mayStop && !over && (
              <ConfirmButton
                label="Stop"
                question="The campaign stops within about a second. What was found so far is kept."
                confirm="Stop the campaign"
                loading={stop.isPending || campaign.stopping}
                onConfirm={() => stop.mutate()}
              />
            )}
            {mayRun(device?.run_role) && over && (
              <Button
                size="compact-xs"
                variant="default"
                renderRoot={(props) => <Link to="/lab/new" search={{ device: campaign.device }} {...props} />}
              >
                Test again
              </Button>
            )}
            {mayChange && <ResultActions campaign={campaign} />}
          </Group>
        </Group>
        <Text size="sm" mt={6}>
          {campaign.message === null
            ? sentenceOf(states, campaign.state, "The campaign")
            : asSentence(campaign.message)}
        </Text>
        <Text size="sm" c="dimmed">
          Requested by {campaign.requested_by}, {time(campaign.created_at)} · looks for{" "}
          {options.target ?? "whatever goes wrong"} · seed {options.seed} · {options.strategy}
          {options.parameters !== null && ` · varies ${options.parameters.join(", ")}`}
          {campaign.decided_by !== null &&
            ` · ${campaign.state === "rejected" ? "rejected" : "approved"} by ${campaign.decided_by}`}
          {campaign.incident_id !== null && (
            <>
              {" · for "}
              <Link to="/incidents/$id" params={{ id: campaign.incident_id }}>
                an incident
              </Link>
            </>
          )}
          {campaign.report !== null && (
            <>
              {" · "}
              <Anchor size="sm" underline="always" href={`${downloads}/report`} download>
                report
              </Anchor>
            </>
          )}
          {campaign.started_at !== null && (
            <>
              {" · "}
              <Anchor size="sm" underline="always" href={`${downloads}/journal`} download>
                journal
              </Anchor>
            </>
          )}
        </Text>
        {campaign.state === "pending" && <ApprovalPanel campaign={campaign} device={device} />}
        {stop.error !== null && <ProblemNotice error={stop.error} />}
      </header>
      {campaign.started_at !== null && <ProgressPanel campaign={campaign} device={device} />}
    </>
  );
}
