import type { FunctionCourse } from "@/lib/api/types";
import { formatNumber, formatShare } from "@/lib/format";

/** Below this share per hour, growth is not worth a sentence. */
const LEAST_GROWTH = 0.01;
const LEAST_MATCHES = 1;

function grows(what: string, factor: number): string[] {
  if (Math.abs(factor - 1) < LEAST_GROWTH) return [];
  if (factor >= 2) return [`${what} grow ${formatNumber(factor)}-fold`];
  return [`${what} ${factor > 1 ? "grow" : "shrink"} by ${formatShare(Math.abs(factor - 1))}`];
}

/** Where the traffic of a function is going, per hour. */
export function trendText({ trend }: FunctionCourse): string {
  const parts = trend
    ? [
        ...grows("flows", trend.flows_factor),
        ...grows("packets", trend.packet_bytes_factor),
        ...(Math.abs(trend.mtbr_change) >= LEAST_MATCHES
          ? [
              `matches ${trend.mtbr_change > 0 ? "rise" : "fall"} by ${formatNumber(Math.abs(Math.round(trend.mtbr_change)))} per MB`,
            ]
          : []),
      ]
    : [];
  return parts.length === 0 ? "Its traffic has no trend." : `Per hour, ${parts.join(", ")}.`;
}

/** Whether its SLA holds for the next hour; undefined where nothing is promised or predicted. */
export function breakText(course: FunctionCourse): string | undefined {
  if (course.sla_drop === null || course.version === null) return undefined;
  if (course.breaks_in_min !== null)
    return `If traffic on this card goes on like this, its SLA breaks in about ${course.breaks_in_min} minutes.`;
  const loss = course.past.at(-1)?.loss;
  if (loss !== null && loss !== undefined && loss > course.sla_drop) return "Its SLA is broken now.";
  return course.coming.length > 0
    ? "If traffic on this card goes on like this, its SLA holds for the next hour."
    : "No traffic on this card has a trend, so nothing is extrapolated.";
}

/** How right the model has been here, next to what it promised in training. */
export function modelText({ version, model_mape, recent_mape }: FunctionCourse): string {
  if (version === null) return "No model is active for it on this card.";
  const promised = model_mape === null ? "" : `; in training, rows left out were missed by ${model_mape.toFixed(1)}%`;
  if (recent_mape === null)
    return `Model version ${version} was not put to the test: the function processed all that arrived${promised}.`;
  return `Model version ${version} missed the measurement by ${recent_mape.toFixed(1)}% on average${promised}.`;
}
