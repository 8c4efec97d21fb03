import type { Incident } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatTime } from "@/lib/time/format";
import { evidenceLine } from "./evidenceText";

const CAUSES_SHOWN = 3;

/** The incident as plain text for a ticket of any system. Times are in UTC, because tickets are read elsewhere. */
export function toTicket(incident: Incident, url: string): string {
  const lines = [
    `[${incident.severity}] ${incident.symptom} on ${incident.host} ${incident.pci}: ${incident.title}`,
    "",
    incident.summary,
    "",
    `Where:  ${incident.host} ${incident.pci}${incident.rack ? `, rack ${incident.rack}` : ""} (reaches ${incident.blast_radius})`,
    `Since:  ${formatTime(incident.opened_at, "utc")}`,
    `State:  ${incident.state}${incident.active ? ", symptom present" : ", symptom gone"}`,
    "",
    "Likely causes:",
    ...incident.hypotheses.slice(0, CAUSES_SHOWN).map((h) => `- ${h.cause} ${h.title} (${formatShare(h.posterior)})${h.next_test ? `; next test: ${h.next_test}` : ""}`),
    "",
    "Evidence:",
    ...incident.evidence.map((e) => `- ${evidenceLine(e)}`),
  ];
  if (incident.remedies.length > 0) {
    lines.push("", "Suggested remedies:", ...incident.remedies.map((r) => `- ${r.action} ${JSON.stringify(r.params)}: ${r.why}`));
  }
  lines.push("", url);
  return lines.join("\n");
}
