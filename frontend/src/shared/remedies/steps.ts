import type { Remedy, RemedyState } from "@/lib/api/types";
import { endedWithoutSuccess, labelOf, outcomeOf, type StateTable } from "@/lib/states";

export type StepState = "done" | "current" | "todo" | "bad";

export interface Step {
  label: string;
  state: StepState;
}

type Progress = Pick<Remedy, "state" | "change" | "effect" | "commands">;

/** The states that a remedy goes through when all goes well, after it was requested. */
const JUDGED_PATH = ["running", "verifying", "confirmed"] as const satisfies readonly RemedyState[];
/** Where no signal can show an effect. */
const CHANGE_PATH = ["running", "verifying", "change_confirmed"] as const satisfies readonly RemedyState[];

/** Before it is applied, nobody knows which of the two ends a remedy will have. */
function pathOf({ state, change, effect }: Progress): readonly RemedyState[] {
  return state === "change_confirmed" || (change !== null && effect === null) ? CHANGE_PATH : JUDGED_PATH;
}

/** The step at which a remedy stands, or at which it ended: 0 is the request. */
function position(remedy: Progress): number {
  const { state, change, effect, commands } = remedy;
  const path = pathOf(remedy);
  const onPath = path.findIndex((name) => name === state);
  if (onPath >= 0) return onPath + 1;
  if (change !== null || effect !== null) return path.length;
  return commands.some(({ operation, state: of }) => operation === "apply" && of !== "queued") ? 1 : 0;
}

/** The four steps of an applied remedy, as far as it came. */
export function steps(table: StateTable, remedy: Progress): Step[] {
  const at = position(remedy);
  const { state } = remedy;
  const good = outcomeOf(table, state) === "good";
  const failed = endedWithoutSuccess(table, state) && state !== "undone";
  return ["Requested", ...pathOf(remedy).map((name) => labelOf(table, name))].map((label, i) => {
    if (i < at || good) return { label, state: "done" };
    if (i > at) return { label, state: "todo" };
    // The remedy is not on the path any more, or waits for approval: its own word says so better than the step's.
    const own = failed || state === "undone" || state === "pending" ? labelOf(table, state) : label;
    return { label: own, state: failed ? "bad" : state === "undone" ? "done" : "current" };
  });
}

/** The agent has carried it out, and it was not undone since. */
export function isChangedOnHost({ state, change, effect }: Pick<Remedy, "state" | "change" | "effect">): boolean {
  return (change !== null || effect !== null) && state !== "undone";
}
