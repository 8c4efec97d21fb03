/** The time range of the RNIC page as it stands in the URL: a length back from now, or two fixed times. */
export interface RangeSearch {
  range?: RangeName;
  from?: string;
  to?: string;
}

export const RANGES = { "5m": 300, "15m": 900, "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800 } as const;
export type RangeName = keyof typeof RANGES;
export const DEFAULT_RANGE: RangeName = "15m";

function isRange(value: unknown): value is RangeName {
  return typeof value === "string" && value in RANGES;
}

function moment(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const ms = Date.parse(value);
  return Number.isFinite(ms) ? new Date(ms).toISOString() : undefined;
}

/** A fixed range needs both ends in order; whatever else is asked becomes the default. */
export function parseRange(search: Record<string, unknown>): RangeSearch {
  const from = moment(search["from"]);
  const to = moment(search["to"]);
  if (from && to && from < to) return { from, to };
  return isRange(search["range"]) ? { range: search["range"] } : {};
}

export interface Interval {
  from: string;
  to: string;
  /** Ends now, so it must be fetched again as time goes on. */
  live: boolean;
  seconds: number;
}

export function toInterval(search: RangeSearch, nowMs: number): Interval {
  if (search.from && search.to) {
    return {
      from: search.from,
      to: search.to,
      live: false,
      seconds: (Date.parse(search.to) - Date.parse(search.from)) / 1000,
    };
  }
  const seconds = RANGES[search.range ?? DEFAULT_RANGE];
  return {
    from: new Date(nowMs - seconds * 1000).toISOString(),
    to: new Date(nowMs).toISOString(),
    live: true,
    seconds,
  };
}

/** How often a live range is fetched: often when it is short, seldom when one step is minutes wide. Milliseconds. */
export function refreshEvery(seconds: number): number {
  return Math.min(60_000, Math.max(2_000, (seconds / 300) * 1000));
}

const SHORTEST_MS = 10_000;
/** No zoom shows more; samples are not kept much longer. */
const LONGEST_MS = 30 * 86_400_000;

export function isFixed(search: RangeSearch): boolean {
  return search.from !== undefined && search.to !== undefined;
}

/** A fixed range that does not reach into the future: one that would is moved back. */
export function fixedRange(fromMs: number, toMs: number, nowMs: number): RangeSearch {
  const length = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.abs(toMs - fromMs)));
  const middle = (fromMs + toMs) / 2;
  const to = Math.min(nowMs, Math.round(middle + length / 2));
  return { from: new Date(to - Math.round(length)).toISOString(), to: new Date(to).toISOString() };
}

/** The minutes that a range shows just now, so that a link to it shows the same tomorrow. */
export function asFixed(search: RangeSearch, nowMs: number): RangeSearch {
  const { from, to } = toInterval(search, nowMs);
  return { from, to };
}

/** Twice as long around the same middle; a live range becomes the next longer one and stays live. */
export function zoomOut(search: RangeSearch, nowMs: number): RangeSearch {
  const { from, to, live, seconds } = toInterval(search, nowMs);
  if (live) {
    const longer = (Object.keys(RANGES) as RangeName[]).find((name) => RANGES[name] > seconds);
    return { range: longer ?? search.range ?? DEFAULT_RANGE };
  }
  const half = (seconds * 1000) / 2;
  return fixedRange(Date.parse(from) - half, Date.parse(to) + half, nowMs);
}

/** Half of its length earlier (-1) or later (1). What would reach into the future ends now. */
export function shift(search: RangeSearch, direction: -1 | 1, nowMs: number): RangeSearch {
  const { from, to, seconds } = toInterval(search, nowMs);
  const by = direction * seconds * 500;
  return fixedRange(Date.parse(from) + by, Date.parse(to) + by, nowMs);
}

const LAST: Readonly<Record<RangeName, string>> = {
  "5m": "5 minutes",
  "15m": "15 minutes",
  "1h": "hour",
  "6h": "6 hours",
  "24h": "24 hours",
  "7d": "7 days",
};

/** `Last 15 minutes`. */
export function rangeText(name: RangeName): string {
  return `Last ${LAST[name]}`;
}
