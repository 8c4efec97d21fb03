import type { FleetForecast } from "@/lib/api/types";

/** More rows than these are a list, which the table below is. */
export const MOST_ROWS = 12;

export interface TimelineRow {
  item: FleetForecast;
  /** Shares of the time shown, 0 to 1: the 90% interval, cut at the end of the picture, and the median. */
  from: number;
  to: number;
  at: number;
  /** The interval goes on beyond the picture. */
  open: boolean;
}

/** RNICs that reach a limit within `spanS` seconds but have not yet, soonest first. */
export function timelineRows(items: readonly FleetForecast[], spanS: number): TimelineRow[] {
  const share = (seconds: number) => Math.min(1, Math.max(0, seconds / spanS));
  return items
    .flatMap((item) => {
      const { earliest_in_s, likely_in_s, latest_in_s } = item;
      if (likely_in_s === null || likely_in_s <= 0 || likely_in_s > spanS) return [];
      const latest = latest_in_s ?? Infinity;
      return [
        {
          item,
          from: share(earliest_in_s ?? likely_in_s),
          to: share(latest),
          at: share(likely_in_s),
          open: latest > spanS,
        },
      ];
    })
    .sort((a, b) => a.at - b.at);
}

/** Where the axis has its marks, in minutes: five, whatever the span. */
export function ticksOf(spanS: number): number[] {
  const minutes = spanS / 60;
  const step = minutes <= 15 ? 5 : minutes <= 30 ? 10 : 15;
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, i) => i * step);
}
