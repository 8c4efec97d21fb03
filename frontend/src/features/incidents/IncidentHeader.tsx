import { Button, CopyButton, Group, Text, Title } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Incident } from "@/lib/api/types";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { reachText } from "./evidenceText";
import { IncidentStateMark } from "./IncidentStateMark";
import { useChangeIncident } from "./queries";
import { toTicket } from "./ticket";

export function IncidentHeader({ incident }: { incident: Incident }) {
  const change = useChangeIncident(incident.id);
  const { time } = useTimeFormat();
  const now = useNow();
  return (
    <header>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <div>
          <Group gap={10}>
            <SymptomBadge symptom={incident.symptom} />
            <Title order={1}>{incident.title}</Title>
          </Group>
          <Text size="sm" mt={4} maw={900}>
            {incident.summary}
          </Text>
        </div>
        <Group gap={8} wrap="nowrap">
          <CopyButton value={toTicket(incident, globalThis.location.href)}>
            {({ copied, copy }) => (
              <Button variant="default" leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />} onClick={copy}>
                {copied ? "Copied" : "Copy as ticket"}
              </Button>
            )}
          </CopyButton>
          {incident.state === "open" && (
            <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ kind: "acknowledge" })}>
              Acknowledge
            </Button>
          )}
          {incident.state !== "resolved" && (
            <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ kind: "resolve" })}>
              Resolve
            </Button>
          )}
        </Group>
      </Group>
      <Group gap={22} mt={8}>
        <IncidentStateMark incident={incident} />
        <StatusMark tone={incident.severity === "critical" ? "bad" : "warn"}>{incident.severity}</StatusMark>
        <StatusMark tone={incident.active ? "bad" : "quiet"}>{incident.active ? "symptom present now" : "symptom gone"}</StatusMark>
        <Text size="sm">
          <Link to="/rnics/$host/$pci" params={{ host: incident.host, pci: incident.pci }}>
            {incident.host} {incident.pci}
          </Link>
          {incident.rack ? ` · ${incident.rack}` : ""}
        </Text>
        <Text size="sm" c="dimmed">
          reaches {reachText(incident.blast_radius)}
        </Text>
        <Text size="sm" c="dimmed" title={time(incident.opened_at)}>
          since {time(incident.opened_at)} ({formatAgo(incident.opened_at, now)})
        </Text>
        {incident.acknowledged_by !== null && (
          <Text size="sm" c="dimmed">
            taken by {incident.acknowledged_by}
          </Text>
        )}
        {incident.reopened > 0 && (
          <Text size="sm" c="dimmed">
            came back {incident.reopened} times
          </Text>
        )}
      </Group>
      {change.isError && <ProblemNotice error={change.error} />}
    </header>
  );
}
