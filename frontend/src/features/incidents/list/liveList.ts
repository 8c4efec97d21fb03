import type { InfiniteData } from "@tanstack/react-query";

/** As much of a row as the list must know to stay still while the world changes. */
interface Row {
  id: string;
  seq: number;
}

export interface RowPage<T> {
  items: T[];
  next_cursor?: string | null;
}

/**
 * Rows that the newest first page has and the list does not. Such a row counts as new only where it stands before one that
 * is shown: rows that come after all of them merely moved up because others left.
 */
export function unseen<T extends Row>(shown: readonly T[], head: readonly T[], complete: boolean): T[] {
  const known = new Set(shown.map((row) => row.id));
  if (complete) return head.filter((row) => !known.has(row.id));
  const last = head.reduce((found, row, i) => (known.has(row.id) ? i : found), -1);
  // A first page without any known row: everything was pushed down.
  return head.filter((row, i) => !known.has(row.id) && (last === -1 || i < last));
}

/** The same rows at the same places with what changed; null when nothing that is shown did. */
export function patched<T extends Row>(
  data: InfiniteData<RowPage<T>>,
  changes: readonly T[],
): InfiniteData<RowPage<T>> | null {
  const byId = new Map(changes.map((row) => [row.id, row]));
  let touched = false;
  const pages = data.pages.map((page) => {
    let here = false;
    const items = page.items.map((row) => {
      const next = byId.get(row.id);
      if (!next || next.seq <= row.seq) return row;
      here = true;
      return next;
    });
    touched ||= here;
    return here ? { ...page, items } : page;
  });
  return touched ? { ...data, pages } : null;
}

export function latestSeq(rows: readonly Row[]): number {
  return rows.reduce((top, row) => Math.max(top, row.seq), 0);
}
