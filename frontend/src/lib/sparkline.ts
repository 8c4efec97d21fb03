/** The recent past of one value, without axes: a path for SVG, with gaps where nothing was read; empty when nothing was. */
export function sparkPath(
  values: readonly (number | null)[],
  limit: number | null,
  width: number,
  height: number,
): { line: string; limitY: number | null } {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { line: "", limitY: null };
  const highest = Math.max(...known);
  // The limit belongs into the picture once values come near it; far below it, they would all lie on the floor.
  const shown = limit !== null && highest > limit * 0.5;
  const top = Math.max(highest, shown ? limit : 0) || 1;
  const y = (value: number) => height - 1 - (value / top) * (height - 2);
  const step = width / Math.max(1, values.length - 1);
  let line = "";
  let pen = "M";
  let gap = 0;
  values.forEach((value, i) => {
    if (value === null) {
      // Fields are read at different intervals, so a few empty steps are the sampling itself.
      if (++gap > 4) pen = "M";
      return;
    }
    gap = 0;
    line += `${pen}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  });
  return { line, limitY: shown ? y(limit) : null };
}
