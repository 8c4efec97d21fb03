import type { Forecast } from "@/lib/api/types";
import { formatNumber, formatValue } from "@/lib/format";
import { reachText } from "./times";

type Wall = Forecast["walls"][number];

export interface Fan {
  /** Corners of the band between low and high, as SVG takes them. */
  band: string;
  likely: string;
  /** Height of the limit. */
  limit: number;
  /** Where the median forecast reaches the limit, if it does within the hour. */
  meets: { x: number; y: number } | null;
  text: string;
}

/** A fan that leaves the picture is cut there: what counts is how it stands to the limit. */
const TALLEST = 1.6;

/** The next hour of one wall in a picture of so many pixels; null where now, later or the limit is unknown. */
export function fanOf(
  wall: Wall,
  forecast: Pick<Forecast, "horizons_s" | "quantiles">,
  width: number,
  height: number,
): Fan | null {
  const { now, limit } = wall;
  const last = forecast.quantiles.length - 1;
  const middle = Math.floor(forecast.quantiles.length / 2);
  const hour = forecast.horizons_s[forecast.horizons_s.length - 1] ?? 3600;
  if (now === null || limit === null || limit <= 0) return null;
  const known = forecast.horizons_s.flatMap((seconds, i) => {
    const [low, likely, high] = [wall.ahead[i]?.[0], wall.ahead[i]?.[middle], wall.ahead[i]?.[last]];
    return low == null || likely == null || high == null ? [] : [{ seconds, low, likely, high }];
  });
  const end = known[known.length - 1];
  if (!end) return null;
  const top = Math.min(Math.max(limit, now, ...known.map(({ high }) => high)) * 1.1, Math.max(limit, now) * TALLEST);
  const x = (seconds: number) => (seconds / hour) * width;
  const y = (value: number) => height - (Math.min(Math.max(value, 0), top) / top) * height;
  const line = (values: readonly (readonly [number, number])[]) =>
    values.map(([seconds, value]) => `${x(seconds).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const start = [0, now] as const;
  return {
    band: line([
      start,
      ...known.map(({ seconds, high }) => [seconds, high] as const),
      ...[...known].reverse().map(({ seconds, low }) => [seconds, low] as const),
    ]),
    likely: line([start, ...known.map(({ seconds, likely }) => [seconds, likely] as const)]),
    limit: y(limit),
    meets:
      wall.likely_in_s === null || wall.likely_in_s > hour
        ? null
        : { x: x(wall.likely_in_s), y: y(Math.max(limit, wall.likely_in_s === 0 ? now : 0)) },
    text: [
      `${wall.label}, limit ${formatValue(limit, wall.unit)}, ${reachText(wall)}: now ${formatNumber(now)}`,
      `in an hour ${formatNumber(end.likely)} (${formatNumber(end.low)} to ${formatNumber(end.high)})`,
    ].join(", "),
  };
}
