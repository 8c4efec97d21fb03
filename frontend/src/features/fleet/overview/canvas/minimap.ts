import { LARGE_FLEET } from "./layout";
import type { Scene } from "./scene";
import { fit } from "./view";

const MOST_WIDTH = 190;
const MOST_HEIGHT = 120;
const MARGIN = 10;
/** From this zoom against the view of everything, one no longer knows where one is. */
const ZOOMED = 1.5;

export interface Minimap {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Of the map's pixels to the world's units. */
  scale: number;
}

/** Where the map of the whole fleet stands; null while a view shows nearly all of it. */
export function minimapOf({
  layout,
  view,
  width,
  height,
}: Pick<Scene, "layout" | "view" | "width" | "height">): Minimap | null {
  if (layout.order.length <= LARGE_FLEET || layout.width === 0 || layout.height === 0) return null;
  if (view.scale < fit(layout, width, height, false).scale * ZOOMED) return null;
  const scale = Math.min(MOST_WIDTH / layout.width, MOST_HEIGHT / layout.height);
  const size = { width: layout.width * scale, height: layout.height * scale };
  return { ...size, scale, x: MARGIN, y: height - MARGIN - size.height };
}

/** All groups, the sick RNICs as dots, and the part that the screen shows. */
export function paintMinimap(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const map = minimapOf(scene);
  if (!map) return;
  const { layout, columns, palette, view } = scene;
  ctx.fillStyle = palette.background;
  ctx.fillRect(map.x - 5, map.y - 5, map.width + 10, map.height + 10);
  ctx.strokeStyle = palette.dim;
  ctx.lineWidth = 1;
  ctx.strokeRect(map.x - 4.5, map.y - 4.5, map.width + 9, map.height + 9);
  ctx.fillStyle = palette.line;
  for (const rack of layout.racks)
    ctx.fillRect(
      map.x + rack.x * map.scale,
      map.y + rack.y * map.scale,
      Math.max(1, rack.width * map.scale),
      Math.max(1, rack.height * map.scale),
    );
  ctx.fillStyle = palette.bad;
  for (let i = 0; i < layout.order.length; i++)
    if ((columns.symptoms[layout.order[i] ?? 0]?.length ?? 0) > 0)
      ctx.fillRect(map.x + (layout.x[i] ?? 0) * map.scale - 1, map.y + (layout.y[i] ?? 0) * map.scale - 1, 3, 3);
  const clip = (value: number, most: number) => Math.min(most, Math.max(0, value));
  const left = clip((-view.offsetX / view.scale) * map.scale, map.width);
  const top = clip((-view.offsetY / view.scale) * map.scale, map.height);
  const right = clip(((scene.width - view.offsetX) / view.scale) * map.scale, map.width);
  const bottom = clip(((scene.height - view.offsetY) / view.scale) * map.scale, map.height);
  ctx.strokeStyle = palette.accent;
  ctx.lineWidth = 2;
  ctx.strokeRect(map.x + left, map.y + top, Math.max(3, right - left), Math.max(3, bottom - top));
}
