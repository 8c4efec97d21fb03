/** A row where it stands, in px from the top of what scrolls. */
export interface Placed {
  index: number;
  start: number;
  end: number;
}

/** The rows with the heights of what is left out before, between and after them, so that all stand at their places. */
export function withGaps<T extends Placed>(items: readonly T[], top: number, bottom: number): (T | number)[] {
  const rows: (T | number)[] = [];
  let at = top;
  for (const item of items) {
    if (item.start > at) rows.push(item.start - at);
    rows.push(item);
    at = item.end;
  }
  if (bottom > at) rows.push(bottom - at);
  return rows;
}
