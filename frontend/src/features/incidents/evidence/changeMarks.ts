import type { RnicChange } from "@/lib/api/types";
import { plural } from "@/lib/format";

const NOUNS: Readonly<Record<RnicChange["kind"], string>> = {
  container: "container change",
  event: "event",
  setting: "setting",
  firmware: "firmware change",
  remedy: "remedy",
  incident: "incident",
};

/** `12 container changes, 1 remedy`: what the lines in the charts are. */
export function changesText(changes: readonly Pick<RnicChange, "kind">[]): string {
  const counts = new Map<RnicChange["kind"], number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => plural(count, NOUNS[kind], kind === "remedy" ? "remedies" : undefined))
    .join(", ");
}

/** Lines closer than this share of the chart hide the curve. */
const CLOSEST = 1 / 40;

/** The times at which lines are drawn: of several changes close to one another, the first stands for all. */
export function markTimes(changes: readonly Pick<RnicChange, "at">[], span: { from: string; to: string }): number[] {
  const closest = (Date.parse(span.to) - Date.parse(span.from)) * CLOSEST;
  const times = changes.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
  const drawn: number[] = [];
  for (const time of times) if (time - (drawn.at(-1) ?? -Infinity) >= closest) drawn.push(time);
  return drawn;
}
