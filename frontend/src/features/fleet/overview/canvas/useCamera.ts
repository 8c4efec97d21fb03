import { type RefObject, useCallback, useEffect, useRef } from "react";
import { tileAt } from "./hit";
import { type FleetLayout, LARGE_FLEET } from "./layout";
import { clampView, fit, type View, zoomAt } from "./view";

export interface CameraEvents {
  onHover: (tile: number, x: number, y: number) => void;
  onOpen: (tile: number) => void;
  onMoved: () => void;
}

const DRAG_THRESHOLD_PX = 4;

/** Pan by dragging, zoom by wheel, hover and click. The view lives in a ref: 60 changes per second do not go through React. */
export function useCamera(
  surface: RefObject<HTMLCanvasElement | null>,
  layout: FleetLayout,
  width: number,
  height: number,
  events: CameraEvents,
) {
  const view = useRef<View>({ scale: 1, offsetX: 0, offsetY: 0 });
  const latest = useRef({ layout, width, height, events });
  const touched = useRef(false);

  useEffect(() => {
    latest.current = { layout, width, height, events };
  });

  const set = useCallback((next: View) => {
    const { layout: l, width: w, height: h, events: e } = latest.current;
    view.current = clampView(next, l, w, h);
    e.onMoved();
  }, []);

  const reset = useCallback(() => {
    touched.current = false;
    const { layout: l, width: w, height: h, events: e } = latest.current;
    view.current = fit(l, w, h, l.order.length <= LARGE_FLEET);
    e.onMoved();
  }, []);

  const zoom = useCallback(
    (factor: number, x?: number, y?: number) => {
      touched.current = true;
      const { layout: l, width: w, height: h } = latest.current;
      const least = Math.min(fit(l, w, h, false).scale * 0.8, 1);
      set(zoomAt(view.current, factor, x ?? w / 2, y ?? h / 2, least));
    },
    [set],
  );

  // A new layout or size shows everything again, unless the reader has taken the camera in hand.
  useEffect(() => {
    if (!touched.current) {
      view.current = fit(layout, width, height, layout.order.length <= LARGE_FLEET);
      latest.current.events.onMoved();
    }
  }, [layout, width, height]);

  useEffect(() => {
    const canvas = surface.current;
    if (!canvas) return;
    let start: { x: number; y: number; view: View } | undefined;
    let dragged = false;
    const at = (event: MouseEvent) => {
      const { scale, offsetX, offsetY } = view.current;
      return tileAt(latest.current.layout, (event.offsetX - offsetX) / scale, (event.offsetY - offsetY) / scale);
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      start = { x: event.clientX, y: event.clientY, view: view.current };
      dragged = false;
    };
    const move = (event: PointerEvent) => {
      if (!start) return latest.current.events.onHover(at(event), event.offsetX, event.offsetY);
      const dx = event.clientX - start.x;
      const dy = event.clientY - start.y;
      if (!dragged && Math.hypot(dx, dy) < DRAG_THRESHOLD_PX) return;
      if (!dragged) canvas.setPointerCapture(event.pointerId);
      dragged = true;
      touched.current = true;
      latest.current.events.onHover(-1, 0, 0);
      set({ ...start.view, offsetX: start.view.offsetX + dx, offsetY: start.view.offsetY + dy });
    };
    const up = (event: PointerEvent) => {
      if (start && !dragged) {
        const tile = at(event);
        if (tile >= 0) latest.current.events.onOpen(tile);
      }
      start = undefined;
    };
    const leave = () => latest.current.events.onHover(-1, 0, 0);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
    };
    canvas.addEventListener("pointerdown", down);
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("wheel", wheel, { passive: false });
    return () => {
      canvas.removeEventListener("pointerdown", down);
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerup", up);
      canvas.removeEventListener("pointerleave", leave);
      canvas.removeEventListener("wheel", wheel);
    };
  }, [surface, set, zoom]);

  return { view, set, reset, zoom, touched };
}
