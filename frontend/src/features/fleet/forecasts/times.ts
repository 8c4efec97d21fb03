import type { FleetForecast, ForecastModel } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";

type Times = Pick<FleetForecast, "earliest_in_s" | "likely_in_s" | "latest_in_s">;

/** To the minute from two minutes on: no forecast knows seconds. */
export function aheadText(seconds: number): string {
  return formatDuration((seconds < 120 ? seconds : Math.round(seconds / 60) * 60) * 1000);
}

/** When a limit is reached, for reading: the likely time, or that it is only possible. */
export function reachText(times: Times): string {
  if (times.earliest_in_s === null) return "not within the hour";
  if (times.earliest_in_s === 0 && times.likely_in_s === 0) return "at limit now";
  if (times.likely_in_s === null) return "possible within the hour";
  return `in ${aheadText(times.likely_in_s)}`;
}

/** The 90% interval; empty where there is nothing to say. */
export function intervalText(times: Times): string {
  if (times.earliest_in_s === null || (times.earliest_in_s === 0 && times.likely_in_s === 0)) return "";
  return times.latest_in_s === null
    ? `${aheadText(times.earliest_in_s)} or later`
    : `${aheadText(times.earliest_in_s)} to ${aheadText(times.latest_in_s)}`;
}

/** A predicted decline: how deep and when, or only that it comes within the hour. */
export function declineText(share: number | null, inSeconds: number | null): string {
  return inSeconds === null
    ? "declines 5% or more, time unknown"
    : `declines ${formatShare(share)} (5% in ${aheadText(inSeconds)})`;
}

const VERDICTS: Record<NonNullable<ForecastModel["judged"]>["verdict"], string> = {
  better: "better than the champion: it may be promoted",
  worse: "worse than the champion",
  no_difference: "not significantly better than the champion",
  not_enough: "less than a day of data alongside the champion",
};

/** How a challenger compares with the champion. */
export function verdictText(judged: NonNullable<ForecastModel["judged"]>): string {
  return `${VERDICTS[judged.verdict]} (${judged.hours} h)`;
}
