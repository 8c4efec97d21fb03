import type { FleetLayout } from "./layout";

/** What part of the world the screen shows: screen = world * scale + offset, in CSS pixels. */
export interface View {
  scale: number;
  offsetX: number;
  offsetY: number;
}

export const MAX_SCALE = 6;
const MAX_FIT_SCALE = 1.35;
/** Below this a labelled tile can't be read; a small fleet then scrolls instead of shrinking. */
const MIN_READABLE_SCALE = 0.62;
const MARGIN = 12;
/** From this width on a tile shows words. */
const READABLE_TILE_PX = 96;

export function fit(layout: FleetLayout, width: number, height: number, readable: boolean): View {
  if (layout.width === 0 || layout.height === 0 || width === 0 || height === 0)
    return { scale: 1, offsetX: MARGIN, offsetY: MARGIN };
  const whole = Math.min((width - 2 * MARGIN) / layout.width, (height - 2 * MARGIN) / layout.height, MAX_FIT_SCALE);
  const scale = readable ? Math.max(whole, Math.min(MIN_READABLE_SCALE, (width - 2 * MARGIN) / layout.width)) : whole;
  return { scale, offsetX: Math.max(MARGIN, (width - layout.width * scale) / 2), offsetY: MARGIN };
}

/** Zoom by a factor so that the world point under the pointer stays under it. */
export function zoomAt(view: View, factor: number, x: number, y: number, minScale: number): View {
  const scale = Math.min(MAX_SCALE, Math.max(minScale, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, offsetX: x - (x - view.offsetX) * ratio, offsetY: y - (y - view.offsetY) * ratio };
}

/** Keep at least a part of the fleet on the screen, so that no one gets lost by dragging. */
export function clampView(view: View, layout: FleetLayout, width: number, height: number): View {
  const keep = 80;
  return {
    scale: view.scale,
    offsetX: Math.min(width - keep, Math.max(keep - layout.width * view.scale, view.offsetX)),
    offsetY: Math.min(height - keep, Math.max(keep - layout.height * view.scale, view.offsetY)),
  };
}

/** Move the view so that a tile is wholly visible; unchanged when it already is. */
export function reveal(view: View, layout: FleetLayout, tile: number, width: number, height: number): View {
  const x = (layout.x[tile] ?? 0) * view.scale + view.offsetX;
  const y = (layout.y[tile] ?? 0) * view.scale + view.offsetY;
  const right = x + layout.metrics.tileWidth * view.scale;
  const bottom = y + layout.metrics.tileHeight * view.scale;
  const dx = x < MARGIN ? MARGIN - x : right > width - MARGIN ? width - MARGIN - right : 0;
  const dy = y < MARGIN ? MARGIN - y : bottom > height - MARGIN ? height - MARGIN - bottom : 0;
  return dx === 0 && dy === 0 ? view : { ...view, offsetX: view.offsetX + dx, offsetY: view.offsetY + dy };
}

/** The tile in the middle, so large that its words can be read. */
export function centreOn(view: View, layout: FleetLayout, tile: number, width: number, height: number): View {
  const scale = Math.max(view.scale, Math.min(MAX_SCALE, READABLE_TILE_PX / layout.metrics.tileWidth));
  const x = (layout.x[tile] ?? 0) + layout.metrics.tileWidth / 2;
  const y = (layout.y[tile] ?? 0) + layout.metrics.tileHeight / 2;
  return { scale, offsetX: width / 2 - x * scale, offsetY: height / 2 - y * scale };
}
