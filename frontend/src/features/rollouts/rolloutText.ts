import type { Rollout } from "@/lib/api/types";
import { outcomeOf, type StateTable } from "@/lib/states";

type Target = Rollout["waves"][number][number];

/** How one wave stands, in words: the canary first, then wave 2, 3, ... */
export function waveText(remedies: StateTable, wave: readonly Target[], index: number): string {
  const name = index === 0 ? "Canary" : `Wave ${index + 1}`;
  const count = (holds: (state: string) => boolean) =>
    wave.filter(({ state }) => state !== null && holds(state)).length;
  const confirmed = count((state) => outcomeOf(remedies, state) === "good");
  const bad = count((state) => outcomeOf(remedies, state) === "bad");
  const undone = count((state) => state === "undone");
  const parts = [`${confirmed} of ${wave.length} confirmed`];
  if (bad > 0) parts.push(`${bad} failed`);
  if (undone > 0) parts.push(`${undone} undone`);
  return `${name}: ${parts.join(", ")}`;
}

/** What holds a rollout up, or did so before it was rolled back; null when nothing is to be said. */
export function messageText({
  state,
  undo,
  message,
  decision_comment,
}: Pick<Rollout, "state" | "undo" | "message" | "decision_comment">): string | null {
  // The reason of a rejection is the decision's comment, and is shown with it.
  if (message === null || message === "" || message === decision_comment) return null;
  if (undo !== null) return `Before the rollback: ${message}`;
  return state === "stopped" ? `Stopped: ${message}` : message;
}

/** Who decided about a proposal, and what they had to say; null when nobody had to. */
export function decisionText({
  state,
  decided_by,
  decision_comment,
}: {
  state: string;
  decided_by: string | null;
  decision_comment: string | null;
}): string | null {
  if (decided_by === null) return null;
  return `${state === "rejected" ? "rejected" : "approved"} by ${decided_by}${decision_comment ? `: “${decision_comment}”` : ""}`;
}
