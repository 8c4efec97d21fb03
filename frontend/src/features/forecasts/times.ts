import type { FleetForecast } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";

type Times = Pick<FleetForecast, "earliest_in_s" | "likely_in_s" | "latest_in_s">;

function inTime(seconds: number | null): string {
  return seconds === null ? "later than an hour" : formatDuration(seconds * 1000);
}

/** When a wall is reached, as one reads it: the likely time, or that it is only possible. */
export function reachText(times: Times): string {
  if (times.earliest_in_s === null) return "not within the hour";
  if (times.earliest_in_s === 0 && times.likely_in_s === 0) return "reached";
  if (times.likely_in_s === null) return "possible within the hour";
  return `in ${formatDuration(times.likely_in_s * 1000)}`;
}

/** The interval that holds nine of ten cases; empty where there is nothing to say. */
export function intervalText(times: Times): string {
  if (times.earliest_in_s === null || (times.earliest_in_s === 0 && times.likely_in_s === 0)) return "";
  return `${inTime(times.earliest_in_s)} to ${inTime(times.latest_in_s)}`;
}
