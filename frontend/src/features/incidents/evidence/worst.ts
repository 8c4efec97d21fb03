import type { Evidence } from "@/lib/api/types";

/**
 * The value of a signal that was furthest from what is expected; null where nothing says which way is worse, or nothing was measured.
 * What ended an incident is the evidence of its last message, whose values are those of a healthy RNIC.
 */
export function worstOf(
  { expected, value }: Pick<Evidence, "expected" | "value">,
  values: readonly (number | null)[] | undefined,
): number | null {
  if (typeof value !== "number") return null;
  const known = (values ?? []).filter((each) => each !== null);
  if (known.length === 0) return null;
  if (/^\s*(<|≤|at most|below)/.test(expected ?? "")) return known.reduce((a, b) => Math.max(a, b));
  if (/^\s*(>|≥|at least|above)/.test(expected ?? "")) return known.reduce((a, b) => Math.min(a, b));
  return null;
}
