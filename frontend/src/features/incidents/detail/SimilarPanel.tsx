import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SimilarIncident } from "@/lib/api/types";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { ActionName } from "@/shared/remedies/ActionName";
import { ParamsLine } from "@/shared/remedies/ParamsLine";
import { StateMark } from "@/lib/ui/StateMark";
import { useSimilar } from "../queries";

const ALIKE: Readonly<Record<string, string>> = { fw_ver: "firmware" };

function Similar({ similar, now }: { similar: SimilarIncident; now: number }) {
  const { incident } = similar;
  return (
    <li>
      <Text size="sm">
        <Link to="/incidents/$id" params={{ id: incident.id }}>
          {incident.title}
        </Link>{" "}
        on {incident.subject}
      </Text>
      <Text size="xs" c="dimmed">
        {formatAgo(incident.opened_at, now)} · lasted {formatDuration(similar.lasted_s * 1000)} · same{" "}
        {similar.alike.map((each) => ALIKE[each] ?? each).join(", ")}
      </Text>
      {similar.remedies.map((remedy) => (
        <Group key={remedy.id} gap={8}>
          <StateMark machine="remedy" state={remedy.state} />
          <Text size="sm">
            <ActionName action={remedy.action} />
          </Text>
          <ParamsLine action={remedy.action} params={remedy.params} />
        </Group>
      ))}
      <Text size="sm">
        {similar.remedies.length === 0 ? "No remedies; " : ""}
        resolved by {similar.resolved_by ?? "nobody yet"}
        {similar.last_comment ? `: “${similar.last_comment}”` : ""}
      </Text>
    </li>
  );
}

/** Past incidents like this one, with what ended them: the first thing worth trying. */
export function SimilarPanel({ id }: { id: string }) {
  const similar = useSimilar(id);
  const now = useNow();
  return (
    <Panel title="Similar incidents">
      <QueryState
        query={similar}
        lines={3}
        isEmpty={(data) => data.items.length === 0}
        empty={<EmptyState title="No similar incidents">No past incident has the same symptom or cause.</EmptyState>}
      >
        {(data) => (
          <Stack gap={10} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {data.items.map((each) => (
              <Similar key={each.incident.id} similar={each} now={now} />
            ))}
          </Stack>
        )}
      </QueryState>
    </Panel>
  );
}
