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
