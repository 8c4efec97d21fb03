import type { Remedy, RemedyState } from "@/lib/api/types";
import type { Tone } from "@/lib/ui/StatusMark";

export interface StateInfo {
  label: string;
  tone: Tone;
  /** What it means and what comes next. */
  text: string;
  underWay: boolean;
}

export const STATES: Readonly<Record<RemedyState, StateInfo>> = {
  proposed: { label: "Proposed", tone: "warn", text: "Waits for somebody else's approval; nothing was sent to the host.", underWay: true },
  rejected: { label: "Rejected", tone: "quiet", text: "It was not approved; nothing was sent to the host.", underWay: false },
  pending: { label: "Pending", tone: "quiet", text: "Waiting for the agent to connect.", underWay: true },
  dispatched: { label: "Dispatched", tone: "quiet", text: "Sent to the agent; waiting for its answer.", underWay: true },
  planned: { label: "Planned", tone: "quiet", text: "Dry run: nothing was changed.", underWay: false },
  applied: { label: "Verifying", tone: "warn", text: "Done on the host. Telemetry must now show that it helped.", underWay: true },
  verified: { label: "Verified", tone: "good", text: "Telemetry shows that it helped.", underWay: false },
  not_verified: { label: "Not verified", tone: "bad", text: "Done on the host, but telemetry did not show the expected effect in time. Undo it, or look at the next cause.", underWay: false },
  failed: { label: "Failed", tone: "bad", text: "The agent could not carry it out.", underWay: false },
  refused: { label: "Refused", tone: "bad", text: "The agent refused the command.", underWay: false },
  expired: { label: "Expired", tone: "bad", text: "The agent did not answer in time. See under Agents whether it is connected.", underWay: false },
  undone: { label: "Undone", tone: "quiet", text: "The former state is back.", underWay: false },
};

export function isUnderWay(state: RemedyState): boolean {
  return STATES[state].underWay;
}

export function isUndoing(remedy: Pick<Remedy, "undo_state">): boolean {
  return remedy.undo_state === "pending" || remedy.undo_state === "dispatched";
}

export type StepState = "done" | "current" | "todo" | "bad";

/** The four steps of an applied remedy, as far as it came. */
export function steps(state: RemedyState): { label: string; state: StepState }[] {
  const reached: Partial<Record<RemedyState, number>> = { proposed: 0, rejected: 0, pending: 0, dispatched: 1, applied: 3, verified: 4, not_verified: 3, undone: 4 };
  const at = reached[state] ?? 1;
  const bad = ["failed", "refused", "expired", "not_verified", "rejected"].includes(state);
  return ["Ordered", "Dispatched", "Applied", "Verified"].map((label, i) => {
    if (i < at || (state === "verified" && i < 4)) return { label, state: "done" };
    if (i === at) return { label: bad || state === "applied" || state === "proposed" ? STATES[state].label : label, state: bad ? "bad" : "current" };
    return { label, state: "todo" };
  });
}

export function isRemedyState(state: string): state is RemedyState {
  return state in STATES;
}
