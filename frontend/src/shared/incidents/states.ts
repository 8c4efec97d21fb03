import type { IncidentState } from "@/lib/api/types";

/** The states of an incident that may still need someone: all but resolved. */
export const UNRESOLVED = ["open", "reopened", "acknowledged", "suppressed"] as const;
export const STATES = [...UNRESOLVED, "resolved"] as const satisfies readonly IncidentState[];

const LABELS: Readonly<Record<IncidentState, string>> = {
  open: "Open",
  reopened: "Reopened",
  acknowledged: "Acknowledged",
  suppressed: "Suppressed",
  resolved: "Resolved",
};

export function stateLabel(state: IncidentState): string {
  return LABELS[state];
}
