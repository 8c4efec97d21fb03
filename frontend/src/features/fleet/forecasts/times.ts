import type { Forecast, FleetForecast, ForecastModel } from "@/lib/api/types";
import { formatShare, MISSING } from "@/lib/format";
import { formatDuration } from "@/lib/time/format";

type Times = Pick<FleetForecast, "earliest_in_s" | "likely_in_s" | "latest_in_s">;

/** To the minute from two minutes on: no forecast knows seconds. */
export function aheadText(seconds: number): string {
  return formatDuration((seconds < 120 ? seconds : Math.round(seconds / 60) * 60) * 1000);
}

/** When a limit is reached, for reading: only a limit at or above an even chance has a likely time. */
export function reachText(times: Times): string {
  if (times.likely_in_s === null) return "not expected within the hour";
  return times.likely_in_s === 0 ? "at limit now" : `in ${aheadText(times.likely_in_s)}`;
}

/** The 90% interval of the time at which a limit is reached; empty where none is expected. */
export function intervalText(times: Times): string {
  if (times.likely_in_s === null || times.likely_in_s === 0 || times.earliest_in_s === null) return "";
  return times.latest_in_s === null
    ? `${aheadText(times.earliest_in_s)} or later`
    : `${aheadText(times.earliest_in_s)} to ${aheadText(times.latest_in_s)}`;
}

/** A chance in whole percent; nothing ahead is certain or impossible. */
export function chanceText(chance: number | null): string {
  if (chance === null) return MISSING;
  if (chance < 0.01) return "< 1%";
  return chance > 0.99 && chance < 1 ? "> 99%" : `${Math.round(chance * 100)}%`;
}

/** How far to trust a forecast, and why. */
export function confidenceText(forecast: Pick<Forecast, "confidence" | "cold_start">): string {
  if (forecast.confidence === "high") return "high confidence: trained on this fleet";
  if (forecast.confidence === "medium") return "medium confidence: base model, trained on simulated fleets";
  return forecast.cold_start
    ? "low confidence: no model yet, or less than 10 minutes of history"
    : "low confidence: the fleet has changed since the model was trained";
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

/** What a model is for. */
export function roleText({ role }: Pick<ForecastModel, "role">): string {
  return role === "base" ? "base model, trained on simulated fleets" : role;
}
