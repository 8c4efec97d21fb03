import type { Incident } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatTime } from "@/lib/time/format";
import { paramsText } from "@/features/remedies/paramsText";
import { evidenceLine } from "./evidenceText";

const CAUSES_SHOWN = 3;

const HOSTS_SHOWN = 20;

function whereOf(incident: Incident): string {
  const rack = incident.rack ? `, rack ${incident.rack}` : "";
  const hardware = [incident.model, incident.fw_ver && `firmware ${incident.fw_ver}`].filter(Boolean).join(", ");
  const hosts = incident.hosts.length > 1 ? `; hosts ${incident.hosts.slice(0, HOSTS_SHOWN).join(", ")}${incident.hosts.length > HOSTS_SHOWN ? ` and ${incident.hosts.length - HOSTS_SHOWN} more` : ""}` : "";
  return `${incident.host} ${incident.pci}`.trim() + `${rack}${hardware ? `, ${hardware}` : ""} (reaches ${incident.blast_radius})${hosts}`;
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
    `State:  ${incident.state}${incident.active ? ", symptom present" : incident.over_since ? `, symptom over since ${formatTime(incident.over_since, "utc")}` : ", symptom over"}`,
    "",
    "Likely causes:",
    ...incident.hypotheses.slice(0, CAUSES_SHOWN).map((h) => `- ${h.cause} ${h.title} (${formatShare(h.posterior)})${h.next_test ? `; next test: ${h.next_test}` : ""}`),
    "",
    "Evidence:",
    ...incident.evidence.map((e) => `- ${evidenceLine(e)}`),
  ];
  if (incident.remedies.length > 0) {
    lines.push("", "Suggested remedies:", ...incident.remedies.map((r) => `- ${r.action} (${paramsText(r.params, undefined)}): ${r.why}`));
  }
  lines.push("", url);
  return lines.join("\n");
}
