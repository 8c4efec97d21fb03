import type { Remedy } from "@/lib/api/types";
import { plural } from "@/lib/format";

/** What became of the findings that a remedy has brought about, such as `1 lasts, 2 have ended, 1 outlasted it and was raised`. */
export function fateText(inhibited: Remedy["inhibited"]): string {
  const raised = inhibited.filter((finding) => !finding.inhibited).length;
  const held = inhibited.filter((finding) => finding.inhibited);
  const ended = held.filter((finding) => finding.cleared_at !== null).length;
  const lasting = held.length - ended;
  return [
    lasting > 0 && plural(lasting, "lasts", "last"),
    ended > 0 && plural(ended, "has ended", "have ended"),
    raised > 0 && `${plural(raised, "outlasted it and was raised", "outlasted it and were raised")}`,
  ]
    .filter(Boolean)
    .join(", ");
}
