import { useCallback, useMemo, useState } from "react";

export interface Selection {
  ids: ReadonlySet<string>;
  /** Not only the rows that are shown: all that match the filters. */
  all: boolean;
  /** Of the row that the keys act on; null before the first `j`. */
  cursor: string | null;
  toggle: (id: string, extend?: boolean) => void;
  selectShown: () => void;
  selectAll: () => void;
  clear: () => void;
  move: (by: number) => string | null;
  setCursor: (id: string) => void;
}

/** Between two rows of the list, both included, whichever comes first. */
export function between(ids: readonly string[], from: string, to: string): string[] {
  const a = ids.indexOf(from);
  const b = ids.indexOf(to);
  if (a === -1 || b === -1) return [to];
  return ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Which rows are selected, and where the keyboard stands. Selected rows that are shown no longer are forgotten. */
export function useSelection(shown: readonly string[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [cursor, setCursor] = useState<string | null>(null);
  const ids = useMemo(
    () => (all ? new Set(shown) : new Set(shown.filter((id) => selected.has(id)))),
    [all, shown, selected],
  );

  const toggle = useCallback(
    (id: string, extend = false) => {
      setAll(false);
      setCursor(id);
      setSelected((was) => {
        const next = new Set(all ? shown : was);
        if (extend && cursor !== null) for (const each of between(shown, cursor, id)) next.add(each);
        else if (next.has(id)) next.delete(id);
        else next.add(id);
        return next;
      });
    },
    [all, shown, cursor],
  );
  const selectShown = useCallback(() => {
    setAll(false);
    setSelected(new Set(shown));
  }, [shown]);
  const selectAll = useCallback(() => {
    setSelected(new Set(shown));
    setAll(true);
  }, [shown]);
  const clear = useCallback(() => {
    setAll(false);
    setSelected(new Set());
  }, []);
  const move = useCallback(
    (by: number) => {
      const at = cursor === null ? -1 : shown.indexOf(cursor);
      const next = shown[at === -1 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))] ?? null;
      setCursor(next);
      return next;
    },
    [cursor, shown],
  );
  return { ids, all, cursor, toggle, selectShown, selectAll, clear, move, setCursor };
}
