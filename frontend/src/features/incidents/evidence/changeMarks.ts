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
