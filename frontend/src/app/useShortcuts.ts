import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const CHORD_MS = 1200;

export const SHORTCUTS: readonly [keys: string, what: string][] = [
  ["?", "Show this help"],
  ["/", "Put the cursor into the filter"],
  ["g w", "Go to the wall"],
  ["g i", "Go to the incidents"],
  ["g r", "Go to the remedies"],
  ["g a", "Go to the agents"],
  ["g h", "Go to the webhooks"],
  ["g s", "Go to the settings"],
  ["Arrow keys", "On the wall: move between RNICs"],
  ["Enter", "On the wall: open the RNIC"],
  ["+  −  0", "On the wall: zoom in, zoom out, show all"],
];

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

/** Keys that work on every page, never while someone types. Returns the state of the help dialog. */
export function useShortcuts() {
  const [opened, { open, close }] = useDisclosure(false);
  const navigate = useNavigate();
  const chordAt = useRef(0);

  useEffect(() => {
    const targets: Record<string, () => void> = {
      w: () => void navigate({ to: "/" }),
      i: () => void navigate({ to: "/incidents" }),
      r: () => void navigate({ to: "/remedies" }),
      a: () => void navigate({ to: "/agents" }),
      h: () => void navigate({ to: "/webhooks" }),
      s: () => void navigate({ to: "/settings/$section", params: { section: "tokens" } }),
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const inChord = event.timeStamp - chordAt.current < CHORD_MS;
      chordAt.current = 0;
      if (inChord && targets[event.key]) {
        event.preventDefault();
        targets[event.key]?.();
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
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, open]);

  return { opened, open, close };
}
