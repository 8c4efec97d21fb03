import type { SensitivityModel } from "@/charts/sensitivity/toOption";
import type { FoundCause, LabReport } from "@/lib/api/types";
import { valueText } from "./labText";

type Curve = FoundCause["sensitivity"][number];

/** The metric that a curve shows: that of the cause, or else the one that changes most between good and bad. */
export function metricOf(cause: Pick<FoundCause, "metric" | "effect">, curve: Curve): string | null {
  const measured = new Set(curve.points.flatMap(({ metrics }) => Object.keys(metrics)));
  if (cause.metric !== null && measured.has(cause.metric)) return cause.metric;
  const byChange = Object.entries(cause.effect)
    .filter(([name]) => measured.has(name))
    .sort(([, a], [, b]) => Math.abs(b.change ?? 0) - Math.abs(a.change ?? 0));
  return byChange[0]?.[0] ?? [...measured].sort()[0] ?? null;
}

/** One sensitivity curve of a cause as the chart wants it. */
export function sensitivityModel(
  cause: Pick<FoundCause, "metric" | "effect" | "thresholds">,
  curve: Curve,
  units: Readonly<Record<string, string>>,
  baseline: LabReport["baseline"],
): SensitivityModel {
  const metric = metricOf(cause, curve);
  const numeric = curve.kind === "integer" && curve.points.every(({ value }) => typeof value === "number");
  const points = curve.points.map(({ value, bad, metrics }, i) => ({
    x: numeric ? Number(value) : i,
    label: valueText(value),
    bad,
    y: metric === null ? null : (metrics[metric] ?? null),
  }));
  const limit = cause.thresholds.find(({ parameter }) => parameter === curve.parameter);
  return {
    parameter: curve.parameter,
    unit: units[curve.parameter] ?? "",
    numeric,
    metric,
    metricUnit: metric === null ? "" : (baseline?.metrics[metric]?.unit ?? ""),
    points: numeric ? [...points].sort((a, b) => a.x - b.x) : points,
    threshold:
      numeric && limit && limit.first_bad > limit.last_good
        ? { lastGood: limit.last_good, firstBad: limit.first_bad }
        : null,
  };
}
