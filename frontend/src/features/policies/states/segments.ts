import type { PolicyStateThen } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";

export interface Segment {
  state: PolicyStateThen;
  /** First step and the one after the last. */
  from: number;
  to: number;
  violations: number;
}

/** Neighbouring steps of one state as one. */
export function segments(states: readonly PolicyStateThen[], violations: readonly number[]): Segment[] {
  const found: Segment[] = [];
  states.forEach((state, i) => {
    const last = found.at(-1);
    if (last?.state === state) {
      last.to = i + 1;
      last.violations += violations[i] ?? 0;
    } else found.push({ state, from: i, to: i + 1, violations: violations[i] ?? 0 });
  });
  return found;
}

export const STATE_WORDS: Readonly<Record<PolicyStateThen, string>> = {
  violated: "violated",
  unknown: "unknown",
  holding: "holding",
  idle: "no subjects",
  unheard: "no report",
};

/** `violated 3 times; holding for 50 min, no report for 10 min` */
export function summaryText(states: readonly PolicyStateThen[], violations: readonly number[], stepS: number): string {
  const total = violations.reduce((sum, each) => sum + each, 0);
  const lengths = (["holding", "unknown", "idle", "unheard"] as const).flatMap((state) => {
    const count = states.filter((each) => each === state).length;
    return count > 0 ? [`${STATE_WORDS[state]} for ${formatDuration(count * stepS * 1000)}`] : [];
  });
  return [
    total > 0 ? `violated ${total.toLocaleString("en")} ${total === 1 ? "time" : "times"}` : "not violated",
    lengths.join(", "),
  ]
    .filter(Boolean)
    .join("; ");
}
