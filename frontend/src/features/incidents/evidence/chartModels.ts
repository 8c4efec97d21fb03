import type { SeriesModel } from "@/charts/series/model";
import type { Catalogue, Evidence, Series } from "@/lib/api/types";
import { formatExpected } from "@/lib/format";

/** Before the onset and after the evidence: enough to see what was usual and what became of it. */
const BEFORE_MS = 15 * 60_000;
const AFTER_MS = 5 * 60_000;
const LONGEST_MS = 24 * 3_600_000;

export interface EvidenceChart {
  /** What it is drawn for; several signals that are derived from the same fields share one chart. */
  evidence: readonly [Evidence, ...Evidence[]];
  /** Fields of the RNIC's series: the signal itself, or what it is derived from. */
  fields: readonly string[];
}

/** The signals that can be drawn, each once, and each picture once. */
export function chartsOf(evidence: readonly Evidence[], catalogue: Pick<Catalogue, "signals">): EvidenceChart[] {
  const fieldsOf = new Map(catalogue.signals.map((each) => [each.signal, each.fields]));
  const charts = new Map<string, EvidenceChart>();
  for (const each of evidence) {
    const fields = fieldsOf.get(each.signal) ?? [];
    if (fields.length === 0 || typeof each.from !== "string" || typeof each.to !== "string") continue;
    const key = fields.join(",");
    const same = charts.get(key);
    if (same?.evidence.some(({ signal }) => signal === each.signal)) continue;
    charts.set(key, { evidence: same ? [...same.evidence, each] : [each], fields });
  }
  return [...charts.values()];
}

/** Whether the chart draws the very signal; otherwise it draws what the signal is derived from, and no bound. */
export function isItself({ evidence, fields }: EvidenceChart): boolean {
  return fields.length === 1 && fields[0] === evidence[0].signal;
}

export interface Span {
  from: string;
  to: string;
}

/** One span for all charts, from before the onset, so that they are read against each other; null when no evidence has an interval. */
export function spanOf(charts: readonly EvidenceChart[], onset: string, nowMs: number): Span | null {
  const all = charts.flatMap(({ evidence }) => evidence);
  const starts = [...all.map(({ from }) => Date.parse(from ?? "")), Date.parse(onset)].filter(Number.isFinite);
  const ends = all.map(({ to }) => Date.parse(to ?? "")).filter(Number.isFinite);
  if (starts.length === 0 || ends.length === 0) return null;
  const to = Math.min(Math.max(...ends) + AFTER_MS, Math.max(nowMs, Math.max(...ends)));
  const from = Math.max(Math.min(...starts) - BEFORE_MS, to - LONGEST_MS);
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

/** By what a value is multiplied to stand on the axis of the first field; null when it can't. */
function toUnit(from: string, to: string | undefined): number | null {
  if (from === to) return 1;
  return from === "ms" && to === "s" ? 0.001 : from === "us" && to === "ms" ? 0.001 : null;
}

/** The chart of one signal: its fields, the very interval of the evidence, and what was expected where the field is the signal itself. */
export function toEvidenceModel(chart: EvidenceChart, series: Series, formats: Formats): SeriesModel {
  const { fields } = chart;
  const [evidence] = chart.evidence;
  const known = new Map(series.fields.map((field) => [field.name, field]));
  const bound = isItself(chart) ? boundOf(evidence.expected) : null;
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
    lines: fields.flatMap((name) => {
      const field = known.get(name);
      const scale = field && toUnit(field.unit, known.get(fields[0] ?? "")?.unit);
      if (!field || !scale) return [];
      const values = series.values[name] ?? [];
      return [
        {
          name,
          label: field.label,
          unit: known.get(fields[0] ?? "")?.unit ?? field.unit,
          values: scale === 1 ? values : values.map((value) => (value === null ? null : value * scale)),
        },
      ];
    }),
  };
}
