import type { SeriesModel } from "@/charts/series/model";
import type { EffectSeries } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

/** Of the time before the remedy, as much is shown after it, even before there are samples: that is where the effect appears. */
const ROOM_AFTER = 0.3;

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
    toMs: Math.max(last, appliedMs + (appliedMs - first) * ROOM_AFTER),
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
