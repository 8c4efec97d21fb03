import { Group, List, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { AutomationRun } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { QueryState } from "@/lib/ui/QueryState";
import { StateMark } from "@/lib/ui/StateMark";
import { useRuns } from "./queries";

function Run({ run }: { run: AutomationRun }) {
  const { time, clock } = useTimeFormat();
  return (
    <>
      <Group gap={8}>
        <StateMark machine="run" state={run.state} />
        <Text size="sm">
          {run.host} {run.pci}, {time(run.created_at)}
        </Text>
        {run.incident_id !== null && (
          <Link to="/incidents/$id" params={{ id: run.incident_id }}>
            incident
          </Link>
        )}
        {run.plan_id !== null && (
          <Link to="/plans/$id" params={{ id: run.plan_id }}>
            mask plan
          </Link>
        )}
        {run.remedy_id !== null && (
          <Link to="/remedies" search={{ remedy: run.remedy_id }}>
            remedy
          </Link>
        )}
      </Group>
      {run.message && <Text size="sm">{run.message}</Text>}
      {run.steps.length > 0 && (
        <details>
          <summary>Steps ({run.steps.length})</summary>
          <List size="sm" listStyleType="none" aria-label={`Steps on ${run.host} ${run.pci}`.trim()}>
            {run.steps.map((step, i) => (
              <List.Item key={i}>
                {clock(step.at)} {step.text}
              </List.Item>
            ))}
          </List>
        </details>
      )}
    </>
  );
}

/** Where a rule acted lately, how it went, and each thing that it did. */
export function AutomationRuns({ ruleId, name }: { ruleId: string; name: string }) {
  const runs = useRuns(ruleId);
  return (
    <QueryState query={runs} lines={1}>
      {({ items }) =>
        items.length === 0 ? (
          <Text size="sm" c="dimmed">
            No runs yet.
          </Text>
        ) : (
          <List size="sm" listStyleType="none" spacing={6} aria-label={`Runs of ${name}`}>
            {items.map((run) => (
              <List.Item key={run.id}>
                <Run run={run} />
              </List.Item>
            ))}
          </List>
        )
      }
    </QueryState>
  );
}
