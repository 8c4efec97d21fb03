import { Button, Grid, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Plan } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { isOver, sentenceOf } from "@/lib/states";
import { formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StateMark } from "@/lib/ui/StateMark";
import { StatusMark } from "@/lib/ui/StatusMark";
import { useOpenIncidents } from "@/shared/incidents/queries";
import { RemedyDialog } from "@/shared/remedies/order/RemedyDialog";
import { ChainDiffTable } from "./ChainDiffTable";
import { CostPanel } from "./CostPanel";
import { EffectTable } from "./EffectTable";
import { CHECK_STATES, gainText } from "./planText";
import { CounterExampleView, ProofPanel } from "./ProofPanel";
import { useCreatePlan, usePlan } from "./queries";

const APPLY = "apply-mask-plan";

/** What came of applying or undoing it: how far it is, and the proof again on the switch's own flows. */
function CarriedOut({ plan }: { plan: Plan }) {
  const { progress, check, outcome } = plan;
  const { time } = useTimeFormat();
  if (!progress && !check && !outcome) return null;
  return (
    <Panel title="Result">
      <Stack gap={8}>
        {progress && progress.done < progress.total && (
          <div>
            <Text size="sm" mb={4} role="status">
              {progress.operation === "apply" ? "Applying" : "Undoing"}: {progress.done.toLocaleString("en")} of{" "}
              {progress.total.toLocaleString("en")} operations
            </Text>
            <Progress
              value={(100 * progress.done) / Math.max(1, progress.total)}
              size="sm"
              aria-label="Progress of the plan"
            />
          </div>
        )}
        {check && (
          <Group gap={10} data-testid="plan-check" data-state={check.state}>
            <StatusMark tone={CHECK_STATES[check.state].tone}>{CHECK_STATES[check.state].label}</StatusMark>
            <Text size="sm">
              {check.message} {check.state === "waiting" ? "" : time(check.at)}
            </Text>
          </Group>
        )}
        {check?.counterexample && <CounterExampleView example={check.counterexample} />}
        {outcome && (
          <Text size="sm" c="dimmed">
            Measured since {time(outcome.since)}
            {outcome.until ? ` until ${time(outcome.until)}` : ""}; see Effect for expected vs. measured.
          </Text>
        )}
      </Stack>
    </Panel>
  );
}

function PlanHeader({ plan, onOpen }: { plan: Plan; onOpen: (id: string | null) => void }) {
  const now = useNow();
  const { time } = useTimeFormat();
  const again = useCreatePlan();
  const states = useStates("plan");
  const left = plan.expires_at === null ? null : Date.parse(plan.expires_at) - now;
  return (
    <header>
      <Group justify="space-between" align="flex-start">
        <Group gap="sm">
          <Title order={1}>
            Mask plan for{" "}
            <Link to="/rnics/$host/$pci" params={{ host: plan.host, pci: plan.pci }}>
              {plan.host} <span style={{ fontFamily: "var(--ww-mono)", fontWeight: 400 }}>{plan.pci}</span>
            </Link>
          </Title>
          <span data-testid="plan-state" data-state={plan.state}>
            <StateMark machine="plan" state={plan.state} />
          </span>
          {plan.applied_by !== null && <StatusMark tone="quiet">Applied</StatusMark>}
        </Group>
        <Group gap={8}>
          {isOver(states, plan.state) && !plan.offered && (
            <Button
              variant="default"
              loading={again.isPending}
              onClick={() =>
                again.mutate({
                  host: plan.host,
                  pci: plan.pci,
                  then: "nothing",
                  ...(plan.incident_id ? { incident_id: plan.incident_id } : {}),
                })
              }
            >
              Create new plan
            </Button>
          )}
          {plan.applied_by !== null ? (
            <Button onClick={() => onOpen(plan.applied_by)}>Open remedy</Button>
          ) : (
            <Button disabled={!plan.offered} onClick={() => onOpen(null)}>
              Review and apply
            </Button>
          )}
        </Group>
      </Group>
      <Text size="sm" mt={6}>
        {sentenceOf(states, plan.state, "The plan")} {plan.message ?? ""}
        {plan.state === "ready" && !plan.worthwhile ? " The gain is below 5%; applying it is not worthwhile." : ""}
      </Text>
      <Text size="sm" c="dimmed">
        {plan.trigger === "manual" ? "Requested" : `Triggered by a ${plan.trigger},`} by {plan.requested_by},{" "}
        {time(plan.created_at)}
        {plan.flows_at ? ` · flows read at ${time(plan.flows_at)}` : ""}
        {plan.offered && left !== null ? (left > 0 ? ` · expires in ${formatDuration(left)}` : " · expired") : ""}
        {plan.incident_id !== null && (
          <>
            {" · for "}
            <Link to="/incidents/$id" params={{ id: plan.incident_id }}>
              an incident
            </Link>
          </>
        )}
      </Text>
      {again.isError && <ProblemNotice error={again.error} />}
      {again.data && again.data.id !== plan.id && (
        <Text size="sm" role="status">
          <Link to="/plans/$id" params={{ id: again.data.id }}>
            Open the new plan
          </Link>
        </Text>
      )}
    </header>
  );
}

function Whole({ plan }: { plan: Plan }) {
  const [dialog, setDialog] = useState<{ remedyId: string | null } | null>(null);
  const incidents = useOpenIncidents({ host: plan.host, pci: plan.pci });
  const incident =
    incidents.data?.find((each) => each.id === plan.incident_id) ??
    incidents.data?.find((each) => each.symptoms.includes("S6"));
  const { report } = plan;
  return (
    <Stack gap={12}>
      <PlanHeader plan={plan} onOpen={(remedyId) => setDialog({ remedyId })} />
      <CarriedOut plan={plan} />
      {report && (
        <>
          <Grid gap={12}>
            <Grid.Col span={{ base: 12, md: 7 }}>
              <Stack gap={12}>
                <Panel title="Effect" aside={<Text size="xs">{gainText(report.expected)}</Text>}>
                  <EffectTable expected={report.expected} outcome={plan.outcome} />
                </Panel>
                <ProofPanel proof={report.proof} released={report.released} />
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <CostPanel id={plan.id} report={report} />
            </Grid.Col>
          </Grid>
          <Panel
            title="Mask chain before and after"
            aside={
              <Text size="xs" c="dimmed">
                LS = packets in the last minute × mask length in bits
              </Text>
            }
          >
            <Stack gap={14}>
              <ChainDiffTable title="Egress" chain={report.chains.egress} />
              <ChainDiffTable title="Ingress" chain={report.chains.ingress} />
            </Stack>
          </Panel>
        </>
      )}
      {dialog && (
        <RemedyDialog
          opened
          onClose={() => setDialog(null)}
          host={plan.host}
          pci={plan.pci}
          action={APPLY}
          fixed={{ plan: plan.id }}
          purposeFor={
            incidents.isPending
              ? undefined
              : () => (incident ? { incident, suggestion: { action: APPLY, params: {}, why: "" } } : null)
          }
          {...(dialog.remedyId === null ? {} : { remedyId: dialog.remedyId })}
        />
      )}
    </Stack>
  );
}

/** One mask plan: what it should gain, what it costs, what is proven, and the chain before and after. */
export function PlanPage({ id }: { id: string }) {
  const plan = usePlan(id);
  return (
    <QueryState query={plan} lines={10}>
      {(data) => <Whole plan={data} />}
    </QueryState>
  );
}
