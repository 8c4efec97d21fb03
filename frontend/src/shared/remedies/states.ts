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
  pending: {
    label: "Waiting for approval",
    tone: "warn",
    text: "Waiting for a second person's approval; nothing has been sent to the host.",
    underWay: true,
  },
  rejected: {
    label: "Rejected",
    tone: "quiet",
    text: "Not approved; nothing was sent to the host.",
    underWay: false,
  },
  approved: { label: "Approved", tone: "quiet", text: "Waiting for the agent to connect.", underWay: true },
  running: {
    label: "Running",
    tone: "quiet",
    text: "Sent to the agent; waiting for its answer.",
    underWay: true,
  },
  planned: { label: "Planned", tone: "quiet", text: "Dry run: nothing was changed.", underWay: false },
  verifying: {
    label: "Verifying",
    tone: "warn",
    text: "Changed on the host. Waiting for telemetry to confirm the effect.",
    underWay: true,
  },
  confirmed: { label: "Confirmed", tone: "good", text: "Confirmed by telemetry.", underWay: false },
  not_confirmed: {
    label: "Not confirmed",
    tone: "bad",
    text: "Changed on the host, but telemetry did not confirm the expected effect in time. Undo it, or check the next cause.",
    underWay: false,
  },
  failed: { label: "Failed", tone: "bad", text: "The agent could not execute it.", underWay: false },
  refused: { label: "Refused", tone: "bad", text: "The agent refused the command.", underWay: false },
  expired: {
    label: "Expired",
    tone: "bad",
    text: "The agent did not answer in time. Check under Agents whether it is connected.",
    underWay: false,
  },
  undone: { label: "Undone", tone: "quiet", text: "Reverted.", underWay: false },
};

export function isUnderWay(state: RemedyState): boolean {
  return STATES[state].underWay;
}

export function isUndoing(remedy: Pick<Remedy, "undo_state">): boolean {
  return remedy.undo_state === "queued" || remedy.undo_state === "sent";
}

export type StepState = "done" | "current" | "todo" | "bad";

/** The four steps of an applied remedy, as far as it came. */
export function steps(state: RemedyState): { label: string; state: StepState }[] {
  const reached: Partial<Record<RemedyState, number>> = {
    pending: 0,
    rejected: 0,
    approved: 0,
    running: 1,
    verifying: 3,
    confirmed: 4,
    not_confirmed: 3,
    undone: 4,
  };
  const at = reached[state] ?? 1;
  const bad = ["failed", "refused", "expired", "not_confirmed", "rejected"].includes(state);
  return ["Requested", "Running", "Verifying", "Confirmed"].map((label, i) => {
    if (i < at || (state === "confirmed" && i < 4)) return { label, state: "done" };
    if (i === at)
      return {
        label: bad || state === "pending" ? STATES[state].label : label,
        state: bad ? "bad" : "current",
      };
    return { label, state: "todo" };
  });
}

export function isRemedyState(state: string): state is RemedyState {
  return state in STATES;
}
