import type { TimelineEntry } from "@/lib/api/types";

/** Lines above the incident; the timeline has the rest. */
const MOST = 3;

/** Since when it holds, as NVSentinel says: the last part of what names a report. */
export function sinceOf({ at, data }: TimelineEntry): string {
  return String(data?.["report"]).split(" ")[2] ?? at;
}

/** What NVSentinel said of the incident's hosts and has not ended, its cordons first. */
export function openReports(timeline: readonly TimelineEntry[]): TimelineEntry[] {
  const of = (what: string) => timeline.filter(({ kind, data }) => kind === "node" && data?.["what"] === what);
  const ended = new Set(of("ended").map(({ data }) => data?.["report"]));
  const open = of("began").filter(({ data }) => !ended.has(data?.["report"]));
  const isCordon = ({ data }: TimelineEntry) => String(data?.["report"]).split(" ")[1] === "cordon";
  return open.sort((a, b) => Number(isCordon(b)) - Number(isCordon(a))).slice(0, MOST);
}
