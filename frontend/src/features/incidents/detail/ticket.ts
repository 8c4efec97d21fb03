import type { Incident } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatDuration, formatTime } from "@/lib/time/format";
import { paramsText } from "@/shared/remedies/paramsText";
import { evidenceLine } from "../evidence/evidenceText";

const CAUSES_SHOWN = 3;

const HOSTS_SHOWN = 20;

function presence(incident: Incident): string {
  if (incident.active) return "present";
  return incident.cleared_at ? `cleared at ${formatTime(incident.cleared_at, "utc")}` : "cleared";
}

/** What the timeline says of acts and states; evidence and likely causes have their own lists. */
const TOLD = new Set([
  "opened",
  "acknowledged",
  "remedy",
  "derived",
  "lab",
  "capture",
  "cleared",
  "reopened",
  "resolved",
  "merged",
  "split",
]);

function timelineOf(incident: Incident): string[] {
  const told = incident.timeline.filter(({ kind }) => TOLD.has(kind));
  if (told.length === 0) return [];
  return ["", "Timeline:", ...told.map(({ at, actor, text }) => `- ${formatTime(at, "utc")} ${actor}: ${text}`)];
}

function durationOf({ opened_at, cleared_at, active }: Incident): string {
  if (active || cleared_at === null) return `Since:  ${formatTime(opened_at, "utc")}`;
  const lasted = formatDuration(Date.parse(cleared_at) - Date.parse(opened_at));
  return `From:   ${formatTime(opened_at, "utc")} to ${formatTime(cleared_at, "utc")} (${lasted})`;
}

function remedyLine({ action, params, why, derivations }: Incident["remedies"][number]): string {
  const derived = Object.values(derivations ?? {}).join("; ");
  return `- ${action} (${paramsText(params, undefined)}${derived ? `; ${derived}` : ""}): ${why}`;
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
    durationOf(incident),
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
    lines.push("", "Suggested remedies:", ...incident.remedies.map(remedyLine));
  }
  lines.push(...timelineOf(incident), "", url);
  return lines.join("\n");
}
