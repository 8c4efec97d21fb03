import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Rnic } from "@/lib/api/types";
import { useNames } from "@/lib/api/useCatalogue";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { QueryState } from "@/lib/ui/QueryState";
import { SymptomBadge, SymptomLink } from "@/lib/ui/SymptomBadge";
import { IncidentStateMark } from "@/shared/incidents/IncidentStateMark";
import { useIncidents } from "@/shared/incidents/queries";
import { RnicRemedies } from "./RnicRemedies";

const SHOWN = 4;

/** A symptom that is there, or that was there lately: nobody shall have to have looked in the right minute. */
function PresentSymptom({ symptom, now }: { symptom: Rnic["symptoms"][number]; now: number }) {
  const names = useNames();
  const over = symptom.until !== null;
  const lasted =
    symptom.since === null
      ? ""
      : formatDuration((symptom.until === null ? now : Date.parse(symptom.until)) - Date.parse(symptom.since));
  return (
    <Group gap={8} data-symptom={symptom.symptom} data-over={over}>
      <SymptomLink symptom={symptom.symptom} over={over} />
      <Text size="sm">{names.symptom(symptom.symptom)}</Text>
      <Text size="sm" c="dimmed">
        {symptom.until === null
          ? lasted
            ? `for ${lasted}`
            : ""
          : `cleared ${formatAgo(symptom.until, now)}${lasted ? `, lasted ${lasted}` : ""}`}
      </Text>
      {symptom.incident_id !== null && (
        <Link to="/incidents/$id" params={{ id: symptom.incident_id }}>
          incident
        </Link>
      )}
    </Group>
  );
}

export function RnicIncidents({ rnic }: { rnic: Rnic }) {
  const now = useNow();
  const incidents = useIncidents({ host: rnic.host, pci: rnic.pci }, SHOWN);
  return (
    <Stack gap={10}>
      {rnic.symptoms.map((each) => (
        <PresentSymptom key={each.symptom} symptom={each} now={now} />
      ))}
      <QueryState
        query={incidents}
        lines={3}
        isEmpty={(items) => items.length === 0}
        empty={
          <EmptyState title="No incident on this RNIC">
            An incident opens when a symptom is detected, with its likely causes and remedies.
          </EmptyState>
        }
      >
        {(items) => (
          <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {items.map((incident) => (
              <Group key={incident.id} component="li" gap={8} wrap="nowrap">
                <span style={{ minWidth: 112 }}>
                  <IncidentStateMark incident={incident} />
                </span>
                <SymptomBadge symptom={incident.symptom} />
                <Text size="sm" truncate style={{ flex: 1 }}>
                  <Link to="/incidents/$id" params={{ id: incident.id }}>
                    {incident.title}
                  </Link>
                </Text>
                <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                  {formatAgo(incident.opened_at, now)}
                </Text>
              </Group>
            ))}
          </Stack>
        )}
      </QueryState>
      <RnicRemedies host={rnic.host} pci={rnic.pci} />
    </Stack>
  );
}
