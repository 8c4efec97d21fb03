import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { QueryState } from "@/lib/ui/QueryState";
import { IncidentStateMark } from "@/shared/incidents/IncidentStateMark";
import { whereText } from "@/shared/incidents/incidentText";
import { useIncidentsOfSymptom } from "@/shared/incidents/queries";

/** Where it is just now. */
export function OpenIncidents({ symptom }: { symptom: string }) {
  const incidents = useIncidentsOfSymptom(symptom);
  const now = useNow();
  return (
    <QueryState
      query={incidents}
      lines={4}
      isEmpty={(page) => page.items.length === 0}
      empty={<EmptyState title="No unresolved incidents with this symptom" />}
    >
      {(page) => (
        <Stack
          gap={8}
          component="ul"
          m={0}
          p={0}
          style={{ listStyle: "none" }}
          aria-label="Unresolved incidents with this symptom"
        >
          {page.items.map((incident) => (
            <Group key={incident.id} component="li" gap={10} wrap="nowrap">
              <span style={{ minWidth: 108 }}>
                <IncidentStateMark incident={incident} />
              </span>
              <Text size="sm" truncate style={{ flex: 1 }}>
                <Link to="/incidents/$id" params={{ id: incident.id }}>
                  {whereText(incident)}
                </Link>
              </Text>
              <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                {incident.active ? "" : "cleared · "}
                {formatAgo(incident.opened_at, now)}
              </Text>
            </Group>
          ))}
          {page.next_cursor && (
            <li>
              <Link to="/incidents" search={{ symptom }}>
                Show all
              </Link>
            </li>
          )}
        </Stack>
      )}
    </QueryState>
  );
}
