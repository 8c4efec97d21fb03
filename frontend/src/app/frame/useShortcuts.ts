import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isTyping } from "@/lib/keys";
import { PLACES } from "./places";

const CHORD_MS = 1200;

export const SHORTCUTS: readonly { where: string; keys: readonly [keys: string, what: string][] }[] = [
  {
    where: "Everywhere",
    keys: [
      ["Ctrl K", "Search: pages, RNICs, hosts, pods, incidents, actions (⌘ K on a Mac)"],
      ["?", "Show this help"],
      ["/", "Focus the filter"],
      ...PLACES.map(({ chord, label }): [string, string] => [`g ${chord}`, `Go to ${label.toLowerCase()}`]),
    ],
  },
  {
    where: "In the incident list",
    keys: [
      ["j  k", "Next, previous incident"],
      ["x", "Select or deselect it"],
      ["Space", "Peek at it without leaving the list"],
      ["Enter  e  o", "Open it"],
      ["a", "Acknowledge the selection, or this incident"],
      ["r", "Resolve the selection, or this incident"],
      ["s", "Silence the selection, or this incident"],
      ["n", "Show new incidents"],
      ["z", "Undo the last action"],
      ["Esc", "Close the peek panel, clear the selection"],
    ],
  },
  {
    where: "On an incident",
    keys: [
      ["a  r", "Acknowledge, resolve"],
      ["z", "Undo"],
      ["c", "Write a comment"],
    ],
  },
  {
    where: "On a policy violation",
    keys: [
      ["Arrow keys", "Step through its trace"],
      ["Home  End", "To the start, to the violation"],
    ],
  },
  {
    where: "On the VFs of an RNIC",
    keys: [
      ["← →  PgUp PgDn", "Step through a strip that has the focus"],
      ["Home  End", "To its start, to now"],
    ],
  },
  {
    where: "On SLOs",
    keys: [["z", "Undo a deleted class"]],
  },
  {
    where: "On an RNIC",
    keys: [
      ["[  ]", "Earlier, later"],
      ["o", "Zoom out"],
      ["l", "Copy a link to the minutes shown"],
    ],
  },
  {
    where: "On the fleet",
    keys: [
      ["Arrow keys", "Move between RNICs"],
      ["Enter", "Open the RNIC"],
      ["n  N", "Next, previous RNIC that needs attention"],
      ["+  −  0", "Zoom in, zoom out, show all"],
    ],
  },
];

/** Keys that work on every page, never while someone types. Returns the states of the help and of the palette. */
export function useShortcuts() {
  const [helping, { open, close }] = useDisclosure(false);
  const [searching, { open: search, close: endSearch }] = useDisclosure(false);
  const navigate = useNavigate();
  const chordAt = useRef(0);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // While someone types, too: it is a chord that no field takes.
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        search();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const inChord = event.timeStamp - chordAt.current < CHORD_MS;
      chordAt.current = 0;
      const place = inChord ? PLACES.find(({ chord }) => chord === event.key) : undefined;
      if (place) {
        event.preventDefault();
        void navigate({ to: place.to });
      } else if (event.key === "g") chordAt.current = event.timeStamp;
      else if (event.key === "?") open();
      else if (event.key === "/") {
        const field = document.querySelector<HTMLElement>("[data-focus-filter]");
        if (field) {
          event.preventDefault();
          field.focus();
        }
      }
    };
    // Before the pages' own keys: `g r` must not resolve anything.
    window.addEventListener("keydown", onKey, { capture: true });
    return () => window.removeEventListener("keydown", onKey, { capture: true });
  }, [navigate, open, search]);

  return {
    help: { opened: helping, open, close },
    palette: { opened: searching, open: search, close: endSearch },
  };
}
