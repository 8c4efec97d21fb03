import type { Rollout } from "@/lib/api/types";
import type { Tone } from "@/lib/ui/StatusMark";

type State = Rollout["state"];

export const ROLLOUT_STATES: Readonly<Record<State, { label: string; tone: Tone }>> = {
  pending: { label: "Waiting for approval", tone: "warn" },
  rejected: { label: "Rejected", tone: "quiet" },
  running: { label: "Running", tone: "good" },
  paused: { label: "Paused", tone: "warn" },
  stopped: { label: "Stopped", tone: "bad" },
  confirmed: { label: "Confirmed", tone: "good" },
  undoing: { label: "Rolling back", tone: "warn" },
  undo_paused: { label: "Rollback paused", tone: "bad" },
  undone: { label: "Rolled back", tone: "quiet" },
};

const BAD = ["failed", "refused", "expired", "not_confirmed"];

/** How one wave stands, in words: the canary first, then wave 2, 3, ... */
export function waveText(wave: Rollout["waves"][number], index: number): string {
  const name = index === 0 ? "Canary" : `Wave ${index + 1}`;
  const count = (states: readonly (string | null)[]) => wave.filter((target) => states.includes(target.state)).length;
  const confirmed = count(["confirmed"]);
  const bad = count(BAD);
  const undone = count(["undone"]);
  const parts = [`${confirmed} of ${wave.length} confirmed`];
  if (bad > 0) parts.push(`${bad} failed`);
  if (undone > 0) parts.push(`${undone} undone`);
  return `${name}: ${parts.join(", ")}`;
}

export function isEnded(state: State): boolean {
  return state !== "pending" && state !== "running" && state !== "paused" && state !== "undoing";
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
