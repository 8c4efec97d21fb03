import { plural } from "@/lib/format";
import type { RackBox } from "./layout";
import { paintMinimap } from "./minimap";
import { paintPixels } from "./paintPixels";
import { paintTile } from "./paintTile";
import type { Scene } from "./scene";

/** Below this many device pixels a tile is a dot: written straight into the image, no labels. */
const DOT_PX = 14;
const ROOM_FOR_NAME_PX = 160;
const FONT = "'Inter', system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

function onScreen(scene: Scene, x: number, y: number, width: number, height: number): boolean {
  const { scale, offsetX, offsetY } = scene.view;
  const left = x * scale + offsetX;
  const top = y * scale + offsetY;
  return left < scene.width && top < scene.height && left + width * scale > 0 && top + height * scale > 0;
}

function paintRackLabel(ctx: CanvasRenderingContext2D, scene: Scene, rack: RackBox): void {
  const { scale, offsetX, offsetY } = scene.view;
  const labelHeight = scene.layout.metrics.rackLabel * scale;
  // Few large groups, seen from afar, have room for a name although their label has none: it stands on their tiles.
  const least = rack.width * scale > ROOM_FOR_NAME_PX ? 11 : 0;
  const fontSize = Math.min(15, Math.max(least, labelHeight * 0.72));
  if (fontSize < 6.5) return;
  ctx.font = `600 ${fontSize}px ${FONT}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = scene.palette.text;
  const { rackPad, rackLabel } = scene.layout.metrics;
  // A label that has left the screen stays at its edge as long as something of its rack is seen: nobody shall be lost in tiles.
  const right = (rack.x + rack.width) * scale + offsetX;
  const bottom = (rack.y + rack.height) * scale + offsetY;
  const x = Math.max((rack.x + rackPad) * scale + offsetX, Math.min(10, right - 120));
  const y = Math.max(rack.y * scale + offsetY + labelHeight / 2, Math.min(14, bottom - fontSize));
  if (y > rack.y * scale + offsetY + rackLabel * scale || labelHeight < fontSize) {
    ctx.fillStyle = scene.palette.panel;
    ctx.fillRect(x - 5, y - fontSize * 0.8, ctx.measureText(rack.name).width + 10, fontSize * 1.6);
    ctx.fillStyle = scene.palette.text;
    ctx.fillText(rack.name, x, y, rack.width * scale - 8);
    return;
  }
  ctx.fillText(rack.name, x, y, rack.width * scale - 8);
  const used = ctx.measureText(rack.name).width;
  const count = `${plural(rack.hosts.length, "host")} · ${plural(rack.to - rack.from, "RNIC")}`;
  ctx.font = `${fontSize * 0.82}px ${FONT}`;
  if (used + 14 + ctx.measureText(count).width > rack.width * scale - 12) return;
  ctx.fillStyle = scene.palette.dim;
  ctx.fillText(count, x + used + 10, y + 0.5);
}

function paintHostLabels(ctx: CanvasRenderingContext2D, scene: Scene, rack: RackBox): void {
  const { scale, offsetX, offsetY } = scene.view;
  const { hostLabel, hostPad } = scene.layout.metrics;
  const fontSize = Math.min(12.5, hostLabel * scale * 0.8);
  if (fontSize < 6.5) return;
  ctx.font = `${fontSize}px ${FONT}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = scene.palette.dim;
  for (const host of rack.hosts) {
    if (!onScreen(scene, host.x, host.y, host.width, host.height)) continue;
    ctx.fillText(
      host.name,
      (host.x + hostPad) * scale + offsetX,
      (host.y + hostPad + hostLabel / 2) * scale + offsetY - 1,
      host.width * scale - 6,
    );
  }
}

/** Paint one frame. Returns how many tiles were on the screen. */
export function paint(ctx: CanvasRenderingContext2D, scene: Scene): number {
  const { layout, palette, view, ratio } = scene;
  const { tileWidth, tileHeight } = layout.metrics;
  const dots = tileWidth * view.scale * ratio < DOT_PX;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  let painted = 0;
  if (dots) {
    painted = paintPixels(ctx, scene);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  } else {
    ctx.fillStyle = palette.background;
    ctx.fillRect(0, 0, scene.width, scene.height);
  }
  for (const rack of layout.racks) {
    if (!onScreen(scene, rack.x, rack.y, rack.width, rack.height)) continue;
    const left = rack.x * view.scale + view.offsetX;
    const top = rack.y * view.scale + view.offsetY;
    if (!dots) {
      ctx.fillStyle = palette.panel;
      ctx.fillRect(left, top, rack.width * view.scale, rack.height * view.scale);
    }
    ctx.strokeStyle = palette.line;
    ctx.lineWidth = 1;
    ctx.strokeRect(left + 0.5, top + 0.5, rack.width * view.scale, rack.height * view.scale);
    if (dots) {
      paintRackLabel(ctx, scene, rack);
      continue;
    }
    paintHostLabels(ctx, scene, rack);
    for (const host of rack.hosts) {
      if (!onScreen(scene, host.x, host.y, host.width, host.height)) continue;
      for (let i = host.from; i < host.to; i++) paintTile(ctx, scene, i, FONT);
      painted += host.to - host.from;
    }
    paintRackLabel(ctx, scene, rack);
  }
  for (const [tile, color, width] of [
    [scene.hover, palette.mark, 1.5],
    [scene.focus, palette.accent, 3],
  ] as const) {
    if (tile < 0 || tile >= layout.order.length) continue;
    ctx.strokeStyle = color;
    ctx.lineWidth = width;
    const x = (layout.x[tile] ?? 0) * view.scale + view.offsetX;
    const y = (layout.y[tile] ?? 0) * view.scale + view.offsetY;
    ctx.strokeRect(x - 2, y - 2, tileWidth * view.scale + 4, tileHeight * view.scale + 4);
  }
  paintMinimap(ctx, scene);
  return painted;
}
