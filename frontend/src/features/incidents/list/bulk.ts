import type { BulkResult, IncidentSummary } from "@/lib/api/types";
import { plural } from "@/lib/format";

export type BulkAction = "acknowledge" | "unacknowledge" | "resolve" | "assign" | "comment" | "reopen";

const DONE: Readonly<Record<BulkAction, string>> = {
  acknowledge: "acknowledged",
  unacknowledge: "unacknowledged",
  resolve: "resolved",
  assign: "assigned",
  comment: "commented on",
  reopen: "reopened",
};

/** `118 incidents acknowledged; 2 skipped: is resolved (2)` */
export function outcomeText(action: BulkAction, result: BulkResult): string {
  const done = `${plural(result.changed, "incident")} ${DONE[action]}`;
  if (result.skipped.length === 0) return done;
  const reasons = new Map<string, number>();
  for (const { why } of result.skipped) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  return `${done}; ${result.skipped.length} skipped: ${[...reasons].map(([why, count]) => `${why} (${count})`).join(", ")}`;
}

export interface Undo {
  ids: string[];
  action: "reopen" | "unacknowledge" | "assign";
  assignee?: string | null;
}

/**
 * What undoes an action, for rows that are shown: resolving by reopening, an acknowledgement where there was none, an
 * assignment by the one before where all had the same. What cannot be undone exactly gives null.
 */
export function undoOf(
  action: BulkAction,
  rows: readonly Pick<IncidentSummary, "id" | "state" | "assignee" | "acknowledged_by">[],
): Undo | null {
  if (rows.length === 0) return null;
  if (action === "resolve") {
    const ids = rows.filter((row) => row.state !== "resolved").map((row) => row.id);
    return ids.length > 0 ? { ids, action: "reopen" } : null;
  }
  if (action === "acknowledge") {
    const ids = rows.filter((row) => row.state !== "resolved" && row.acknowledged_by === null).map((row) => row.id);
    return ids.length > 0 ? { ids, action: "unacknowledge" } : null;
  }
  if (action === "assign") {
    const before = new Set(rows.map((row) => row.assignee));
    return before.size === 1
      ? { ids: rows.map((row) => row.id), action: "assign", assignee: rows[0]?.assignee ?? null }
      : null;
  }
  return null;
}
