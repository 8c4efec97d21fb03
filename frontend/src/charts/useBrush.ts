import { type RefObject, useEffect, useRef, useState } from "react";
import type { Painter } from "./engine";
import { timeAt } from "./timeAt";

/** A shorter drag is a click whose hand shook. Pixels. */
export const SHORTEST_PX = 6;

export interface Brushed {
  left: number;
  width: number;
}

/** Selecting time by dragging over a chart. Returns what is selected so far, in pixels of the chart. */
export function useBrush(
  holder: RefObject<HTMLElement | null>,
  chart: RefObject<Painter | null>,
  onZoom: ((fromMs: number, toMs: number) => void) | undefined,
): Brushed | null {
  const [brushed, setBrushed] = useState<Brushed | null>(null);
  const latest = useRef(onZoom);
  useEffect(() => {
    latest.current = onZoom;
  });
  const enabled = onZoom !== undefined;
  useEffect(() => {
    const element = holder.current;
    if (!element || !enabled) return;
    let start: number | null = null;
    const place = (event: PointerEvent) => {
      const box = element.getBoundingClientRect();
      return Math.min(box.width, Math.max(0, event.clientX - box.left));
    };
    const down = (event: PointerEvent) => {
      if (event.button === 0 && event.pointerType !== "touch") start = place(event);
    };
    const move = (event: PointerEvent) => {
      if (start === null) return;
      const at = place(event);
      setBrushed({ left: Math.min(start, at), width: Math.abs(at - start) });
    };
    const up = (event: PointerEvent) => {
      if (start === null) return;
      const [left, right] = [start, place(event)].sort((a, b) => a - b) as [number, number];
      start = null;
      setBrushed(null);
      if (right - left < SHORTEST_PX || !chart.current) return;
      const [from, to] = [timeAt(chart.current, left), timeAt(chart.current, right)];
      if (from !== null && to !== null) latest.current?.(from, to);
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || start === null) return;
      start = null;
      setBrushed(null);
    };
    element.addEventListener("pointerdown", down);
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("keydown", cancel);
    return () => {
      element.removeEventListener("pointerdown", down);
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("keydown", cancel);
    };
  }, [holder, chart, enabled]);
  return brushed;
}
