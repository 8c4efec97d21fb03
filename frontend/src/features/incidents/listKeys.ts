import type { BulkAction } from "./bulk";
import type { Selection } from "./useSelection";

interface Actions {
  selection: Selection;
  onAct: (action: BulkAction) => void;
  onOpen: (id: string) => void;
  onSilence: () => void;
  onFresh: () => void;
  onUndo: () => void;
}

/** Brings the row of the cursor onto the screen and gives it the focus, so that a screen reader says it and Tab goes on from there. */
function focusRow(id: string | null): void {
  if (id === null) return;
  const row = document.querySelector(`[data-incident="${CSS.escape(id)}"]`);
  row?.scrollIntoView({ block: "nearest" });
  row?.querySelector<HTMLElement>("[data-open]")?.focus({ preventScroll: true });
}

/** The keys of the incident list (the help dialog names them). */
export function listKeys({ selection, onAct, onOpen, onSilence, onFresh, onUndo }: Actions): Record<string, () => void> {
  const open = () => {
    if (selection.cursor !== null) onOpen(selection.cursor);
  };
  return {
    j: () => focusRow(selection.move(1)),
    k: () => focusRow(selection.move(-1)),
    x: () => {
      const at = selection.cursor ?? selection.move(1);
      if (at !== null) selection.toggle(at);
    },
    Enter: open,
    e: open,
    o: open,
    a: () => onAct("acknowledge"),
    r: () => onAct("resolve"),
    s: onSilence,
    n: onFresh,
    z: onUndo,
    Escape: selection.clear,
  };
}
