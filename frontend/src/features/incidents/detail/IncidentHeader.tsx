import { Alert, Group, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Incident } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatAgo, formatDuration } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import narrow from "@/lib/ui/narrow.module.css";
import { StatusMark } from "@/lib/ui/StatusMark";
import { SymptomLink } from "@/lib/ui/SymptomBadge";
import { IncidentStateMark } from "@/shared/incidents/IncidentStateMark";
import { scopeLabel } from "@/shared/incidents/incidentText";
import { IncidentActions } from "../actions/IncidentActions";
import { TicketLinks } from "../actions/TicketLinks";
import { reachText } from "../evidence/evidenceText";
import { Assignee } from "./Assignee";
import { openReports, sinceOf } from "./nodeReports";
import { InhibitedNote, SilenceNote } from "./SuppressionNotes";

const HOSTS_IN_ADDRESS = 40;

/** The fleet filter that shows the incident's RNICs; hosts are listed only while a URL can hold them. */
function onFleet(incident: Incident): { host?: string; rack?: string; symptom?: string } {
  if (incident.scope === "rack" && incident.rack) return { rack: incident.rack };
  if (incident.hosts.length > HOSTS_IN_ADDRESS) return { symptom: incident.symptoms.join(",") };
  return { host: incident.hosts.join(",") || incident.host };
}

/** Where it is: the RNIC's page, or for a wider one its hosts on the fleet page. */
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
      <Link to="/" search={onFleet(incident)} title="Show on the fleet page">
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
  if (incident.cleared_at === null) return <StatusMark tone="quiet">symptom cleared</StatusMark>;
  return (
    <span title={time(incident.cleared_at)}>
      <StatusMark tone="quiet">{`symptom cleared ${formatDuration(now - Date.parse(incident.cleared_at))} ago`}</StatusMark>
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
        <Alert
          mb={8}
          title="Merged into another incident"
          styles={{
            root: { background: "var(--ww-raised)", border: "1px solid var(--ww-line)" },
            message: { color: "var(--ww-text)" },
            title: { color: "var(--ww-text)" },
          }}
        >
          Updates are sent{" "}
          <Link to="/incidents/$id" params={{ id: incident.merged_into }}>
            there
          </Link>
          ; this page keeps its history.
        </Alert>
      )}
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="md" className={narrow["wraps"]}>
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
          {incident.pci !== "" && incident.symptoms.includes("isolation") && (
            <>
              {" · "}
              <Link to="/tenants/rnics/$host/$pci" params={{ host: incident.host, pci: incident.pci }}>
                Who breaks whose promise
              </Link>
            </>
          )}
        </Text>
        <Text {...dim}>
          {[incident.model ?? "unknown model", incident.fw_ver && `firmware ${incident.fw_ver}`]
            .filter(Boolean)
            .join(" · ")}{" "}
          · impact: {reachText(incident.blast_radius)}
        </Text>
        <Text {...dim}>
          {incident.active || incident.cleared_at === null
            ? `since ${time(incident.opened_at)} (${formatAgo(incident.opened_at, now)})`
            : `from ${time(incident.opened_at)} to ${time(incident.cleared_at)} (${formatDuration(
                Date.parse(incident.cleared_at) - Date.parse(incident.opened_at),
              )})`}
        </Text>
        <Assignee name={incident.assignee} />
        {incident.acknowledged_by !== null && <Text {...dim}>acknowledged by {incident.acknowledged_by}</Text>}
        {incident.resolved_by !== null && <Text {...dim}>resolved by {incident.resolved_by}</Text>}
        {incident.reopened > 0 && <Text {...dim}>recurred {plural(incident.reopened, "time")}</Text>}
        <TicketLinks incident={incident} />
      </Group>
      {incident.suppressed_by !== null && <SilenceNote id={incident.suppressed_by} />}
      <InhibitedNote incident={incident} />
      {incident.state !== "resolved" &&
        openReports(incident.timeline).map((entry) => (
          <Text key={entry.text} size="sm" mt={6} role="note" style={{ overflowWrap: "anywhere" }}>
            ▣ {entry.text}{" "}
            <Text span size="xs" c="dimmed">
              {formatAgo(sinceOf(entry), now)}
            </Text>
          </Text>
        ))}
    </header>
  );
}
