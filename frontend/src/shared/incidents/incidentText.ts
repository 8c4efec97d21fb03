import type { IncidentSummary } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";

const SCOPES: Readonly<Record<IncidentSummary["scope"], string>> = {
  rnic: "RNIC",
  host: "host",
  rack: "rack",
  fleet: "fleet",
};

export function scopeLabel(scope: IncidentSummary["scope"]): string {
  return SCOPES[scope];
}

/** `host03 0000:3b:00.0`, or what a wider incident is about with how much of it. */
export function whereText(incident: Pick<IncidentSummary, "scope" | "subject" | "hosts" | "rnics">): string {
  if (incident.scope === "rnic") return incident.subject;
  const parts = [`${incident.scope === "fleet" ? "firmware" : scopeLabel(incident.scope)} ${incident.subject}`];
  if (incident.hosts.length > 1) parts.push(plural(incident.hosts.length, "host"));
  if (incident.rnics > 0) parts.push(plural(incident.rnics, "RNIC"));
  return parts.join(" · ");
}

/** How long the symptom lasted, to its end, the incident's end, or now. */
export function lastedText(
  incident: Pick<IncidentSummary, "opened_at" | "cleared_at" | "resolved_at">,
  now: number,
): string {
  const end = incident.cleared_at ?? incident.resolved_at;
  return formatDuration((end === null ? now : Date.parse(end)) - Date.parse(incident.opened_at));
}
