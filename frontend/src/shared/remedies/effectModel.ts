import type { SeriesModel } from "@/charts/series/model";
import type { EffectSeries } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

/** The kept samples of a remedy's effect as a chart; null while there are too few for a line. */
export function toEffectModel(series: EffectSeries, formats: Formats): SeriesModel | null {
  const timesMs = series.samples.map(({ at }) => Date.parse(at));
  const first = timesMs[0];
  const last = timesMs.at(-1);
  if (first === undefined || last === undefined || timesMs.length < 2) return null;
  const appliedMs = Date.parse(series.applied_at);
  return {
    timesMs,
    fromMs: Math.min(first, appliedMs),
    toMs: Math.max(last, appliedMs),
    intervals: [],
    mark: { atMs: appliedMs, label: "applied" },
    limit:
      series.bound === null
        ? undefined
        : { value: series.bound, label: `expected ${formatExpected(series.expected, series.unit)}`, always: true },
    lines: [
      { name: series.signal, label: series.label, unit: series.unit, values: series.samples.map(({ value }) => value) },
    ],
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
  };
}
