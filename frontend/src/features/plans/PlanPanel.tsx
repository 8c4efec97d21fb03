import "@/lib/ui/mantineMore.css";
import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useStates } from "@/lib/api/useStates";
import { sentenceOf } from "@/lib/states";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { StateMark } from "@/lib/ui/StateMark";
import { StatusMark } from "@/lib/ui/StatusMark";
import { gainText } from "./planText";
import { useCreatePlan, usePlansOf } from "./queries";

const SHOWN = 4;

interface Props {
  host: string;
  pci: string;
  /** The incident for which plans are created here. */
  incidentId?: string;
}

/** The mask plans of one RNIC, and the way to a new one. Creating one only reads. */
export function PlanPanel({ host, pci, incidentId }: Props) {
  const plans = usePlansOf({ host, pci });
  const states = useStates("plan");
  const create = useCreatePlan();
  const now = useNow();
  return (
    <Panel
      title="Mask plans"
      aside={
        <Text size="xs" c="dimmed">
          busiest masks first
        </Text>
      }
      actions={
        <Button
          size="compact-xs"
          variant={incidentId ? "default" : "filled"}
          loading={create.isPending}
          onClick={() =>
            create.mutate({ host, pci, then: "nothing", ...(incidentId ? { incident_id: incidentId } : {}) })
          }
        >
          Create plan
        </Button>
      }
    >
      <Stack gap={8}>
        {create.isError && <ProblemNotice error={create.error} />}
        <QueryState
          query={plans}
          lines={2}
          isEmpty={(page) => page.items.length === 0}
          empty={
            <EmptyState title="No plan yet">
              Creating a plan reads the host&apos;s flows and changes nothing; you decide afterwards whether to apply
              it.
            </EmptyState>
          }
        >
          {({ items }) => (
            <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
              {items.slice(0, SHOWN).map((plan) => (
                <Group
                  key={plan.id}
                  component="li"
                  gap={10}
                  wrap="nowrap"
                  align="flex-start"
                  data-plan={plan.id}
                  data-state={plan.state}
                >
                  <span style={{ minWidth: 118, flex: "none" }}>
                    {plan.applied_by !== null ? (
                      <StatusMark tone="quiet">Applied</StatusMark>
                    ) : (
                      <StateMark machine="plan" state={plan.state} />
                    )}
                  </span>
                  <div>
                    <Text size="sm">
                      <Link to="/plans/$id" params={{ id: plan.id }}>
                        {plan.state === "ready" ? gainText(plan) : sentenceOf(states, plan.state, "The plan")}
                      </Link>
                    </Text>
                    <Text size="xs" c="dimmed">
                      {formatAgo(plan.created_at, now)} by {plan.requested_by}
                      {plan.message ? ` · ${plan.message}` : ""}
                    </Text>
                  </div>
                </Group>
              ))}
            </Stack>
          )}
        </QueryState>
      </Stack>
    </Panel>
  );
}
