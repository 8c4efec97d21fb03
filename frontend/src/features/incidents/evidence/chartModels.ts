import type { SeriesModel } from "@/charts/series/model";
import type { Evidence, SignalSeries } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";

/** Before the onset and after the evidence: enough to see what was usual and what became of it. */
const BEFORE_MS = 15 * 60_000;
const AFTER_MS = 5 * 60_000;
/** The API derives no longer history at once; what matters then is how it began. */
const LONGEST_MS = 3 * 3_600_000;

/** The evidence that can be drawn: what has an interval, each signal once. */
export function drawable(evidence: readonly Evidence[]): Evidence[] {
  const found = new Map<string, Evidence>();
  for (const each of evidence) {
    if (typeof each.from !== "string" || typeof each.to !== "string") continue;
    if (!found.has(each.signal)) found.set(each.signal, each);
  }
  return [...found.values()];
}

export interface Span {
  from: string;
  to: string;
}

/** One span for all charts, from before the onset, so that they are read against each other; null when no evidence has an interval. */
export function spanOf(evidence: readonly Evidence[], onset: string, nowMs: number): Span | null {
  const starts = [...evidence.map(({ from }) => Date.parse(from ?? "")), Date.parse(onset)].filter(Number.isFinite);
  const ends = evidence.map(({ to }) => Date.parse(to ?? "")).filter(Number.isFinite);
  if (starts.length === 0 || ends.length === 0) return null;
  const from = Math.min(...starts) - BEFORE_MS;
  const to = Math.min(Math.max(...ends) + AFTER_MS, Math.max(nowMs, Math.max(...ends)), from + LONGEST_MS);
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** The number that a bound names (`< 0.05`, `>= 7200 flows`), in the unit of its signal; null when it names none or several. */
export function boundOf(expected: string | null | undefined): number | null {
  const numbers = expected?.replaceAll(/(\d),(?=\d{3})/g, "$1").match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*%?/gi) ?? [];
  if (numbers.length !== 1) return null;
  const text = numbers[0] ?? "";
  const value = Number.parseFloat(text);
  return text.endsWith("%") ? value / 100 : value;
}

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

/** What a value of the signal is: `mean of 20 s`. */
export function windowOf({ statistic, window_s }: { statistic: string; window_s: number }): string {
  return `${statistic === "last" ? "newest" : statistic} of ${window_s} s`;
}

/** The chart of one signal as its rule judged it: the very interval of the evidence, and the bound; null when it was not measured. */
export function toEvidenceModel(evidence: Evidence, series: SignalSeries, formats: Formats): SeriesModel | null {
  const field = series.fields.find(({ name }) => name === evidence.signal);
  const values = series.values[evidence.signal];
  if (!field || !values?.some((value) => value !== null)) return null;
  const bound = boundOf(evidence.expected);
  return {
    timesMs: series.times.map((time) => Date.parse(time)),
    fromMs: Date.parse(series.from),
    toMs: Date.parse(series.to),
    intervals: [
      {
        symptom: "evidence",
        fromMs: Date.parse(evidence.from ?? ""),
        toMs: evidence.to ? Date.parse(evidence.to) : null,
      },
    ],
    limit:
      bound === null
        ? undefined
        : { value: bound, label: `expected ${formatExpected(evidence.expected, evidence.unit)}`, always: true },
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
    lines: [{ name: field.name, label: field.label, unit: field.unit, values }],
  };
}
