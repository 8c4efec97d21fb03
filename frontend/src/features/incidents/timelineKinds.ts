import type { Incident, TimelineEntry } from "@/lib/api/types";

/** What a timeline tells, in groups that a reader filters by. A kind that is not known is history. */
export const GROUPS = ["all", "people", "symptoms", "remedies"] as const;
export type Group = (typeof GROUPS)[number];

const GROUP_OF: Readonly<Record<string, Group>> = {
  acknowledged: "people", unacknowledged: "people", assigned: "people", comment: "people", ticket: "people", merged: "people", split: "people", silenced: "people", unsilenced: "people",
  opened: "symptoms", symptom: "symptoms", updated: "symptoms", cleared: "symptoms", reopened: "symptoms", resolved: "symptoms", inhibited: "symptoms", uninhibited: "symptoms", verdict: "symptoms", forecast: "symptoms",
  remedy: "remedies",
};

const MARKS: Readonly<Record<string, string>> = {
  opened: "◆", reopened: "◆", symptom: "▲", updated: "▲", cleared: "○", resolved: "●", acknowledged: "✓", unacknowledged: "↺", assigned: "→", comment: "”", ticket: "#", remedy: "⚒", silenced: "∅", unsilenced: "◉", inhibited: "∅", uninhibited: "◉", merged: "⊂", split: "⊃",
};

export function markOf(kind: string): string {
  return MARKS[kind] ?? "•";
}

/** Newest first, of one group or of all. */
export function entriesOf(timeline: Incident["timeline"], group: Group): TimelineEntry[] {
  return timeline.filter((entry) => group === "all" || GROUP_OF[entry.kind] === group).reverse();
}
