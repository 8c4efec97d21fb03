import { Alert, Group, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Incident } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import { reachText } from "./evidenceText";
import { IncidentActions } from "./IncidentActions";
import { IncidentStateMark } from "./IncidentStateMark";
import { scopeLabel } from "./incidentText";
import { InhibitedNote } from "./InhibitedNote";
import { SilenceNote } from "./SilenceNote";
import { TicketLinks } from "./TicketLinks";

const HOSTS_IN_ADDRESS = 40;

/** The filter of the wall that shows what the incident is about; hosts are named only while an address can hold them. */
function onWall(incident: Incident): { host?: string; rack?: string; symptom?: string } {
  if (incident.scope === "rack" && incident.rack) return { rack: incident.rack };
  if (incident.hosts.length > HOSTS_IN_ADDRESS) return { symptom: incident.symptoms.join(",") };
  return { host: incident.hosts.join(",") || incident.host };
}

/** Where it is: the RNIC's page, or for a wider one its hosts on the wall. */
function Where({ incident }: { incident: Incident }) {
  if (incident.scope === "rnic" && incident.pci) {
    return (
      <Link to="/rnics/$host/$pci" params={{ host: incident.host, pci: incident.pci }}>
        {incident.host} {incident.pci}
      </Link>
    );
  }
  return (
    <>
      {scopeLabel(incident.scope)}{" "}
      <Link to="/" search={onWall(incident)} title="See it on the wall">
        {incident.subject}
      </Link>
      {incident.hosts.length > 1 ? ` · ${plural(incident.hosts.length, "host")}` : ""}
      {incident.rnics > 0 ? ` · ${plural(incident.rnics, "RNIC")}` : ""}
    </>
  );
}

function Presence({ incident, now }: { incident: Incident; now: number }) {
  const { time } = useTimeFormat();
  if (incident.active) return <StatusMark tone="bad">symptom present now</StatusMark>;
  if (incident.over_since === null) return <StatusMark tone="quiet">symptom over</StatusMark>;
  return (
    <span title={time(incident.over_since)}>
      <StatusMark tone="quiet">{`symptom over for ${formatDuration(now - Date.parse(incident.over_since))}`}</StatusMark>
    </span>
  );
}

/** What it is, how it stands, where, since when, who has it, and what can be done with it. */
export function IncidentHeader({ incident }: { incident: Incident }) {
  const { time } = useTimeFormat();
  const now = useNow();
  const dim = { size: "sm", c: "dimmed" } as const;
  return (
    <header>
      {incident.merged_into !== null && (
        <Alert mb={8} title="Merged into another incident" styles={{ root: { background: "var(--ww-raised)", border: "1px solid var(--ww-line)" }, message: { color: "var(--ww-text)" }, title: { color: "var(--ww-text)" } }}>
          What happens is told{" "}
          <Link to="/incidents/$id" params={{ id: incident.merged_into }}>
            there
          </Link>
          ; this page keeps its own past.
        </Alert>
      )}
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="md">
        <Group gap={8}>
          {incident.symptoms.map((symptom) => (
            <SymptomLink key={symptom} symptom={symptom} over={!incident.active} />
          ))}
          <Title order={1}>{incident.title}</Title>
        </Group>
        <IncidentActions incident={incident} />
      </Group>
      <Group gap="4px 20px" mt={8}>
        <IncidentStateMark incident={incident} />
        <StatusMark tone={incident.severity === "critical" ? "bad" : "warn"}>{incident.severity}</StatusMark>
        <Presence incident={incident} now={now} />
        <Text size="sm">
          <Where incident={incident} />
          {incident.rack ? ` · ${incident.rack}` : ""}
        </Text>
        <Text {...dim}>
          {[incident.model ?? "model not known", incident.fw_ver && `firmware ${incident.fw_ver}`].filter(Boolean).join(" · ")} · reaches {reachText(incident.blast_radius)}
        </Text>
        <Text {...dim}>
          since {time(incident.opened_at)} ({formatAgo(incident.opened_at, now)})
        </Text>
        <Text size="sm">{incident.assignee === null ? "nobody has it" : `assigned to ${incident.assignee}`}</Text>
        {incident.acknowledged_by !== null && <Text {...dim}>acknowledged by {incident.acknowledged_by}</Text>}
        {incident.resolved_by !== null && <Text {...dim}>resolved by {incident.resolved_by}</Text>}
        {incident.reopened > 0 && <Text {...dim}>came back {plural(incident.reopened, "time")}</Text>}
        <TicketLinks incident={incident} />
      </Group>
      {incident.suppressed_by !== null && <SilenceNote id={incident.suppressed_by} />}
      <InhibitedNote incident={incident} />
    </header>
  );
}
