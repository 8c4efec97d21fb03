import type { Incident } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatTime } from "@/lib/time/format";
import { paramsText } from "@/shared/remedies/paramsText";
import { evidenceLine } from "../evidence/evidenceText";

const CAUSES_SHOWN = 3;

const HOSTS_SHOWN = 20;

function presence(incident: Incident): string {
  if (incident.active) return "present";
  return incident.cleared_at ? `cleared at ${formatTime(incident.cleared_at, "utc")}` : "cleared";
}

function whereOf(incident: Incident): string {
  const more = incident.hosts.length - HOSTS_SHOWN;
  const rack = incident.rack ? `, rack ${incident.rack}` : "";
  const hardware = [incident.model, incident.fw_ver && `firmware ${incident.fw_ver}`].filter(Boolean).join(", ");
  const hosts =
    incident.hosts.length > 1
      ? `; hosts ${incident.hosts.slice(0, HOSTS_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
      : "";
  return (
    `${incident.host} ${incident.pci}`.trim() +
    `${rack}${hardware ? `, ${hardware}` : ""} (impact: ${incident.blast_radius})${hosts}`
  );
}

/** The incident as plain text for a ticket of any system. Times are in UTC, because tickets are read elsewhere. */
export function toTicket(incident: Incident, url: string): string {
  const lines = [
    `[${incident.severity}] ${incident.symptoms.join(", ")} on ${incident.subject}: ${incident.title}`,
    "",
    incident.explanation || incident.summary,
    "",
    `Where:  ${whereOf(incident)}`,
    `Since:  ${formatTime(incident.opened_at, "utc")}`,
    `State:  ${incident.state}, symptom ${presence(incident)}`,
    "",
    "Likely causes:",
    ...incident.hypotheses
      .slice(0, CAUSES_SHOWN)
      .map(
        (h) =>
          `- ${h.cause} ${h.title} (${formatShare(h.posterior)})${h.next_test ? `; next test: ${h.next_test}` : ""}`,
      ),
    "",
    "Evidence:",
    ...incident.evidence.map((e) => `- ${evidenceLine(e)}`),
  ];
  if (incident.remedies.length > 0) {
    lines.push(
      "",
      "Suggested remedies:",
      ...incident.remedies.map((r) => `- ${r.action} (${paramsText(r.params, undefined)}): ${r.why}`),
    );
  }
  lines.push("", url);
  return lines.join("\n");
}
