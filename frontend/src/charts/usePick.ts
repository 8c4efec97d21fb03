import { type RefObject, useEffect, useRef } from "react";
import type { Painter } from "./engine";
import { timeAt } from "./timeAt";
import { SHORTEST_PX } from "./useBrush";

/** A part of the picture that leads somewhere. */
export interface Pickable {
  /** In the menu, for those who use no mouse. */
  label: string;
  onPick: () => void;
}

/** What lies at a time and a height of the picture (pixels from its top); null where a click does nothing. */
export type PickAt = (ms: number, y: number) => Pickable | null;

/** A click on what leads somewhere; a drag that begins there still selects time. The pointer shows where a click does something. */
export function usePick(
  holder: RefObject<HTMLElement | null>,
  chart: RefObject<Painter | null>,
  pickAt: PickAt | undefined,
): void {
  const latest = useRef(pickAt);
  useEffect(() => {
    latest.current = pickAt;
  });
  const enabled = pickAt !== undefined;
  useEffect(() => {
    const element = holder.current;
    if (!element || !enabled) return;
    let pressed: { x: number; y: number } | null = null;
    const found = (event: MouseEvent) => {
      if (!chart.current) return null;
      const box = element.getBoundingClientRect();
      const ms = timeAt(chart.current, event.clientX - box.left);
      return ms === null ? null : (latest.current?.(ms, event.clientY - box.top) ?? null);
    };
    const down = (event: PointerEvent) => {
      pressed = event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    };
    const move = (event: PointerEvent) => {
      element.style.cursor = event.buttons === 0 && found(event) ? "pointer" : "";
    };
    const click = (event: MouseEvent) => {
      const moved = pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y);
      pressed = null;
      if (moved !== null && moved < SHORTEST_PX) found(event)?.onPick();
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("click", click);
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      element.removeEventListener("click", click);
    };
  }, [holder, chart, enabled]);
}
