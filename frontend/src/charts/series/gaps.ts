/** A break this many times longer than a line's usual spacing is a gap: nothing was read. A shorter one is the sampling itself. */
const GAP_FACTOR = 3.5;

function usualSpacing(known: readonly number[], timesMs: readonly number[]): number {
  const spacings = known.slice(1).map((at, i) => (timesMs[at] ?? 0) - (timesMs[known[i] ?? 0] ?? 0));
  spacings.sort((a, b) => a - b);
  return spacings[Math.floor(spacings.length / 2)] ?? 0;
}

/**
 * The points of a line as [time, value]. Fields are read at different intervals, so in a series with short steps most
 * values of a slower field are null: those nulls are left out, while a real gap keeps one null and so breaks the line.
 */
export function toPoints(timesMs: readonly number[], values: readonly (number | null)[]): [number, number | null][] {
  const known = timesMs.flatMap((_, i) => (values[i] === null || values[i] === undefined ? [] : [i]));
  const limit = usualSpacing(known, timesMs) * GAP_FACTOR;
  const points: [number, number | null][] = [];
  known.forEach((at, i) => {
    const time = timesMs[at] ?? 0;
    const before = known[i - 1];
    if (before !== undefined && at - before > 1 && time - (timesMs[before] ?? 0) > limit)
      points.push([timesMs[before + 1] ?? time, null]);
    points.push([time, values[at] ?? null]);
  });
  return points;
}
