import type { BrokenInterval } from "@/lib/api/types";

type Aggressor = BrokenInterval["aggressors"][number];
type Victim = BrokenInterval["victims"][number];

/** Broken intervals without a pause between them, of one mechanism and role: what people call one incident. */
export interface Episode {
  key: string;
  fromMs: number;
  toMs: number;
  /** The sum of its intervals, which may be less than its span. */
  brokenS: number;
  estimated: boolean;
  mechanism: BrokenInterval["mechanism"];
  role: BrokenInterval["role"];
  /** Of its newest interval. */
  reason: string;
  /** Every one that took part, the largest mean share first. */
  aggressors: Aggressor[];
  victims: Victim[];
}

/** A pause of up to this long does not end an episode: the verdict of a single second may be missing. */
const PAUSE_MS = 2_000;

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value): value is number => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** Each aggressor once, with the means of its shares. */
function mergeAggressors(intervals: readonly BrokenInterval[]): Aggressor[] {
  const byVf = new Map<number, Aggressor[]>();
  for (const { aggressors } of intervals)
    for (const each of aggressors) byVf.set(each.vf, [...(byVf.get(each.vf) ?? []), each]);
  return [...byVf.values()]
    .flatMap((parts) => {
      const [first] = parts;
      return first
        ? [
            {
              ...first,
              share: mean(parts.map((each) => each.share)),
              fair_share: mean(parts.map((each) => each.fair_share)),
            },
          ]
        : [];
    })
    .sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
}

function mergeVictims(intervals: readonly BrokenInterval[]): Victim[] {
  const byVf = new Map<number, Victim>();
  for (const { victims } of intervals) for (const each of victims) if (!byVf.has(each.vf)) byVf.set(each.vf, each);
  return [...byVf.values()].sort((a, b) => a.vf - b.vf);
}

function toEpisode(intervals: readonly BrokenInterval[]): Episode[] {
  const newest = intervals[0];
  const oldest = intervals.at(-1);
  if (!newest || !oldest) return [];
  const fromMs = Date.parse(oldest.at) - oldest.interval_s * 1000;
  return [
    {
      key: `${oldest.at}|${newest.role}`,
      fromMs,
      toMs: Date.parse(newest.at),
      brokenS: intervals.reduce((sum, each) => sum + each.interval_s, 0),
      estimated: intervals.some((each) => each.estimated),
      mechanism: newest.mechanism,
      role: newest.role,
      reason: newest.reason,
      aggressors: mergeAggressors(intervals),
      victims: mergeVictims(intervals),
    },
  ];
}

/** Episodes from intervals, both newest first. */
export function toEpisodes(broken: readonly BrokenInterval[]): Episode[] {
  const groups: BrokenInterval[][] = [];
  const open = new Map<string, BrokenInterval[]>();
  for (const interval of broken) {
    const key = `${interval.role}|${interval.mechanism ?? ""}`;
    const group = open.get(key);
    const next = group?.at(-1);
    const pause = next ? Date.parse(next.at) - next.interval_s * 1000 - Date.parse(interval.at) : Infinity;
    if (group && pause <= PAUSE_MS) group.push(interval);
    else {
      const started = [interval];
      groups.push(started);
      open.set(key, started);
    }
  }
  return groups.flatMap(toEpisode);
}
