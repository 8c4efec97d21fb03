import { useEffect, useRef } from "react";

/** Whether keys are text just now. A checkbox takes no text, so that one can go on by keyboard after a click on it. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && ["checkbox", "radio", "button"].includes(target.type)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function isInDialog(): boolean {
  return document.querySelector('[role="dialog"][aria-modal="true"], [role="menu"]') !== null;
}

/** What has keys of its own when it has the focus. */
const PRESSED_BY: Readonly<Record<string, string>> = {
  Enter: "a, button, summary",
  " ": "button, input, summary, [role='button'], [role='option'], [tabindex='0']:not(tr)",
};

function presses(event: KeyboardEvent): boolean {
  const own = PRESSED_BY[event.key];
  return own !== undefined && event.target instanceof HTMLElement && event.target.closest(own) !== null;
}

/** A page's own keys. Not while someone types, has a dialog open, or is in the middle of a chord such as `g i`. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event.target) ||
        isInDialog() ||
        presses(event)
      )
        return;
      const run = current.current[event.key];
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
