import type { TimelineEntry } from "@/lib/api/types";

/** One line of the timeline: an entry, or a run of entries in which symptoms came and went. */
export type TimelineLine =
  { folded: false; entry: TimelineEntry } | { folded: true; entries: readonly TimelineEntry[]; text: string };

/** What a symptom that comes and goes leaves behind; what people and remedies do is never folded. */
const OF_FLAPPING = new Set(["symptom", "cleared", "updated"]);
/** Fewer are read faster than a summary of them. */
const FEWEST = 4;

/** Their texts name the symptom first: `S1 on host03 0000:5e:00.0 recurred.` */
const SYMPTOM = /^[SB][1-8]\b/;

function textOf(entries: readonly TimelineEntry[]): string {
  const symptoms = [...new Set(entries.flatMap(({ text }) => SYMPTOM.exec(text) ?? []))].sort();
  return `${symptoms.length > 0 ? symptoms.join(", ") : "symptoms"} came and went, ${entries.length} entries`;
}

/** The entries in their order, runs of flapping symptoms as one line each. */
export function foldFlapping(entries: readonly TimelineEntry[]): TimelineLine[] {
  const lines: TimelineLine[] = [];
  let run: TimelineEntry[] = [];
  const endRun = () => {
    if (run.length >= FEWEST) lines.push({ folded: true, entries: run, text: textOf(run) });
    else lines.push(...run.map((entry) => ({ folded: false as const, entry })));
    run = [];
  };
  for (const entry of entries) {
    if (OF_FLAPPING.has(entry.kind)) run.push(entry);
    else {
      endRun();
      lines.push({ folded: false, entry });
    }
  }
  endRun();
  return lines;
}
