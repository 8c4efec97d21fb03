import type { Interval, SeriesModel } from "@/charts/series/model";
import type { Forecast, PastForecasts } from "@/lib/api/types";
import { formatNumber, formatShare, plural } from "@/lib/format";

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

interface Target {
  key: string;
  label: string;
  unit: string;
  now: number | null;
  ahead: readonly (readonly (number | null)[])[];
  limit: number | null;
}

/** Everything that is forecast of one RNIC, walls first. */
export function targetsOf(forecast: Forecast): Target[] {
  const walls = forecast.walls.map((wall) => ({
    key: wall.wall,
    label: wall.label,
    unit: wall.unit,
    now: wall.now,
    ahead: wall.ahead,
    limit: wall.limit,
  }));
  const others = Object.entries(forecast.others).map(([key, one]) => ({
    key,
    label: one.label,
    unit: one.unit,
    now: one.now,
    ahead: one.ahead,
    limit: null,
  }));
  return [...walls, ...others];
}

/** The metric to show first: the wall predicted to be reached first, else the bandwidth. */
export function drawnFirst(forecast: Forecast): string {
  const ahead = forecast.walls.flatMap(({ wall, likely_in_s }) =>
    likely_in_s === null ? [] : [{ wall, likely_in_s }],
  );
  return ahead.sort((a, b) => a.likely_in_s - b.likely_in_s)[0]?.wall ?? "bandwidth_gbps";
}

/** The fan: from now, the median forecast between the bounds of the 90% interval. */
export function fanModel(forecast: Forecast, target: Target, formats: Formats): SeriesModel {
  const at = Date.parse(forecast.at);
  const timesMs = [at, ...forecast.horizons_s.map((seconds) => at + seconds * 1000)];
  const middle = Math.floor(forecast.quantiles.length / 2);
  const last = forecast.quantiles.length - 1;
  const line = (place: number) => [target.now, ...target.ahead.map((one) => one[place] ?? null)];
  return {
    timesMs,
    fromMs: at,
    band: { low: "low", high: "high" },
    toMs: timesMs[timesMs.length - 1] ?? at,
    intervals: [],
    limit:
      target.limit === null
        ? undefined
        : { value: target.limit, label: `limit: ${formatNumber(target.limit)}`, always: true },
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
    lines: [
      { name: "likely", label: "likely", unit: target.unit, values: line(middle) },
      { name: "high", label: "high (95%)", unit: target.unit, values: line(last), dashed: true },
      { name: "low", label: "low (5%)", unit: target.unit, values: line(0), dashed: true },
    ],
  };
}

/** Times predicted by forecasts issued while a policy was violated; consecutive forecasts form one span. */
function violatedSpans(past: PastForecasts): Interval[] {
  const spans: Interval[] = [];
  past.items.forEach((item, i) => {
    if (!item.policy_violated) return;
    const at = Date.parse(item.for_at);
    const last = spans[spans.length - 1];
    if (last && past.items[i - 1]?.policy_violated) last.toMs = at;
    else spans.push({ symptom: "policy violated", fromMs: at - 60_000, toMs: at });
  });
  return spans;
}

/** The predicted and the actual value at each time. */
export function pastModel(past: PastForecasts, formats: Formats): SeriesModel {
  const timesMs = past.items.map((item) => Date.parse(item.for_at));
  return {
    timesMs,
    fromMs: timesMs[0] ?? 0,
    band: { low: "low", high: "high" },
    toMs: timesMs[timesMs.length - 1] ?? 0,
    intervals: violatedSpans(past),
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
    lines: [
      { name: "actual", label: "actual", unit: past.unit, values: past.items.map((item) => item.actual) },
      { name: "likely", label: "likely", unit: past.unit, values: past.items.map((item) => item.likely), dashed: true },
      { name: "low", label: "low (5%)", unit: past.unit, values: past.items.map((item) => item.low), dashed: true },
      {
        name: "high",
        label: "high (95%)",
        unit: past.unit,
        values: past.items.map((item) => item.high),
        dashed: true,
      },
    ],
  };
}

/** How the forecasts that are drawn did: how many intervals held what happened, and how far off the likely values were. */
export function recordText(past: PastForecasts): string {
  const known = past.items.flatMap(({ low, likely, high, actual }) =>
    low === null || likely === null || high === null || actual === null ? [] : [{ low, likely, high, actual }],
  );
  if (known.length === 0) return "No actual values are known yet.";
  const held = known.filter(({ low, high, actual }) => low <= actual && actual <= high).length;
  const off = known
    .flatMap(({ likely, actual }) => (actual === 0 ? [] : [Math.abs(likely / actual - 1)]))
    .sort((a, b) => a - b);
  const middle = off[Math.floor(off.length / 2)];
  const typical = middle === undefined ? "" : `; the median error of the likely value is ${formatShare(middle)}`;
  return `90% interval coverage: ${formatShare(held / known.length)} of ${plural(known.length, "forecast")}${typical}.`;
}
