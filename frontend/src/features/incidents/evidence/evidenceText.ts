import type { Evidence, Incident } from "@/lib/api/types";
import { formatExpected, formatValue, MISSING } from "@/lib/format";

/** A measured value with its unit; text values stand as they are. */
export function evidenceValue(evidence: Pick<Evidence, "value" | "unit">): string {
  const { value } = evidence;
  if (value === null || value === undefined) return MISSING;
  return typeof value === "number" ? formatValue(value, evidence.unit) : value;
}

/** How far an incident reaches, as words: some flows, the RNIC, the host. */
export function reachText(radius: Incident["blast_radius"]): string {
  return radius === "rnic" ? "RNIC" : radius;
}

/** `Re-offload ratio 41%, expected < 5%`; of a cause: `Re-offload ratio 0%, supports it at <= 10%`, which is another threshold. */
export function evidenceLine(evidence: Evidence): string {
  return `${evidence.label} ${boundLine(evidence)}`;
}

/** The same without the name of the signal. */
export function boundLine(evidence: Evidence): string {
  const { expected, test, unit } = evidence;
  const bound = test
    ? `, supports it at ${formatExpected(test, unit)}`
    : expected
      ? `, expected ${formatExpected(expected, unit)}`
      : "";
  return `${evidenceValue(evidence)}${bound}`;
}
