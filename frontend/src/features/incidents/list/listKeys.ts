import type { BulkAction } from "./bulk";
import type { Selection } from "./useSelection";

interface Actions {
  selection: Selection;
  /** The cursor has come to a row: bring it onto the screen and give it the focus, so that a screen reader says it and Tab goes on from there. */
  onMove: (id: string) => void;
  onAct: (action: BulkAction) => void;
  onOpen: (id: string) => void;
  /** Shows or hides the panel that follows the cursor. */
  onPeek: () => void;
  /** Hides it; false when it is not there. */
  onUnpeek: () => boolean;
  onSilence: () => void;
  onFresh: () => void;
  onUndo: () => void;
}

/** The keys of the incident list (the help dialog names them). */
export function listKeys({
  selection,
  onMove,
  onAct,
  onOpen,
  onPeek,
  onUnpeek,
  onSilence,
  onFresh,
  onUndo,
}: Actions): Record<string, () => void> {
  const open = () => {
    if (selection.cursor !== null) onOpen(selection.cursor);
  };
  const move = (by: number) => {
    const id = selection.move(by);
    if (id !== null) onMove(id);
    return id;
  };
  return {
    j: () => void move(1),
    k: () => void move(-1),
    x: () => {
      const at = selection.cursor ?? move(1);
      if (at !== null) selection.toggle(at);
    },
    " ": () => {
      if ((selection.cursor ?? move(1)) !== null) onPeek();
    },
    Enter: open,
    e: open,
    o: open,
    a: () => onAct("acknowledge"),
    r: () => onAct("resolve"),
    s: onSilence,
    n: onFresh,
    z: onUndo,
    Escape: () => {
      if (!onUnpeek()) selection.clear();
    },
  };
}
