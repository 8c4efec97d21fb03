/** The next round number at or above: 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Grid lines that divide a round maximum evenly, so that its own label stands alone. */
export function evenInterval(max: number): number {
  const leading = max / 10 ** Math.floor(Math.log10(max));
  return max / (leading % 1.5 === 0 ? 3 : leading % 5 === 0 ? 5 : 4);
}

/**
 * The upper end of an axis that begins at zero, and the distance of its labels: all at round values. A share ends at 100% unless it is more;
 * counts that never moved get an axis of 1, not of fractions. Null where values are negative or missing: then the library chooses.
 */
export function axisTop(highest: number, lowest: number, unit: string): { max: number; interval: number } | null {
  if (!Number.isFinite(highest) || lowest < 0) return null;
  const max = unit === "ratio" && highest <= 1 && highest > 0.8 ? 1 : roundUp(highest);
  return { max, interval: max === 1 && highest <= 0 ? 1 : evenInterval(max) };
}
