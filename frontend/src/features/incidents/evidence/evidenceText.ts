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

/** `Re-offload ratio 41%, expected < 5%` */
export function evidenceLine(evidence: Evidence): string {
  const expected = evidence.expected ? `, expected ${formatExpected(evidence.expected, evidence.unit)}` : "";
  return `${evidence.label} ${evidenceValue(evidence)}${expected}`;
}
