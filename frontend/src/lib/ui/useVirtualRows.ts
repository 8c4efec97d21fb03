import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { withGaps } from "./gaps";

/** Rows around the visible ones, so that fast scrolling and `j` find them there. */
const OVERSCAN = 12;
/** The next rows are fetched this many rows before the last, so that nobody waits for them. */
const AHEAD = 30;

interface Options {
  count: number;
  keyOf: (index: number) => string;
  /** Of a row, in px, until it was measured. */
  estimate: number;
  /** A row that stays in the document wherever one scrolls, since it may have the focus. */
  keep: number | null;
  /** The reader nears the end of the rows. */
  onNearEnd: () => void;
}

/**
 * Only the rows of a long table that can be seen. The table stands in a box that scrolls (`main`), below other things, so
 * its own offset in there is measured too. `rows` are in order; a number is the height in px of rows that are left out.
 */
export function useVirtualRows({ count, keyOf, estimate, keep, onNearEnd }: Options) {
  const tableRef = useRef<HTMLTableElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const virtualizer = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count,
    estimateSize: () => estimate,
    getItemKey: keyOf,
    getScrollElement: () => tableRef.current?.closest("main") ?? null,
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      if (keep === null || shown.includes(keep)) return shown;
      return [...shown, keep].sort((a, b) => a - b);
    },
  });
  const findPlace = useCallback(() => {
    const box = tableRef.current?.closest("main");
    const body = tableRef.current?.tBodies[0];
    if (!box || !body) return;
    const margin = Math.round(body.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop);
    setScrollMargin((was) => (Math.abs(margin - was) > 1 ? margin : was));
  }, []);
  // After each drawing: whatever stands above may have grown.
  useLayoutEffect(findPlace);

  // The row that is to have the focus may still have to be drawn.
  const wanted = useRef<number | null>(null);
  const focusWanted = useCallback(() => {
    if (wanted.current === null) return;
    const row = tableRef.current?.querySelector(`tr[data-index="${wanted.current}"]`);
    if (!row) return;
    wanted.current = null;
    row.scrollIntoView({ block: "nearest" });
    row.querySelector<HTMLElement>("[data-open]")?.focus({ preventScroll: true });
  }, []);
  useEffect(focusWanted);
  const focusRow = useCallback(
    (index: number) => {
      wanted.current = index;
      focusWanted();
      if (wanted.current !== null) virtualizer.scrollToIndex(index);
    },
    [focusWanted, virtualizer],
  );

  const items = virtualizer.getVirtualItems();
  const nearEnd = (virtualizer.scrollOffset ?? 0) > 0 && (items.at(-1)?.index ?? -1) >= count - AHEAD;
  useEffect(() => {
    if (nearEnd) onNearEnd();
  }, [nearEnd, onNearEnd]);
  return {
    tableRef,
    measure: virtualizer.measureElement,
    focusRow,
    rows: withGaps(items, scrollMargin, virtualizer.getTotalSize() + scrollMargin),
  };
}
