import { List, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { RUN_STATES } from "./automation";
import { useRuns } from "./automationQueries";

/** Where a rule acted lately and how it went. */
export function AutomationRuns({ ruleId, name }: { ruleId: string; name: string }) {
  const runs = useRuns(ruleId);
  const { time } = useTimeFormat();
  return (
    <QueryState query={runs} lines={1}>
      {({ items }) =>
        items.length === 0 ? (
          <Text size="sm" c="dimmed">
            It has not acted yet.
          </Text>
        ) : (
          <List size="sm" listStyleType="none" aria-label={`Runs of ${name}`}>
            {items.map((run) => (
              <List.Item key={run.id}>
                <StatusMark tone={RUN_STATES[run.state].tone}>{RUN_STATES[run.state].label}</StatusMark> {run.host} {run.pci}, {time(run.created_at)}{" "}
                <Link to="/incidents/$id" params={{ id: run.incident_id }}>
                  incident
                </Link>
                {run.message ? ` · ${run.message}` : ""}
              </List.Item>
            ))}
          </List>
        )
      }
    </QueryState>
  );
}
