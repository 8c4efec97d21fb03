import { isStale, type Scene } from "./scene";

let buffer: ImageData | undefined;
let words: Uint32Array | undefined;

function surface(
  ctx: CanvasRenderingContext2D,
  width: number,
  height: number,
): { image: ImageData; pixels: Uint32Array } {
  if (!buffer || !words || buffer.width !== width || buffer.height !== height) {
    buffer = ctx.createImageData(width, height);
    words = new Uint32Array(buffer.data.buffer);
  }
  return { image: buffer, pixels: words };
}

function fill(
  pixels: Uint32Array,
  stride: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  color: number,
): void {
  for (let y = y0; y < y1; y++) pixels.fill(color, y * stride + x0, y * stride + x1);
}

/**
 * The far view of a large fleet: 40,000 fillRect calls cost more than a frame on a machine without a GPU, while writing
 * the pixels costs about as many stores as there are pixels. A stale tile keeps only its lower half; an RNIC with a
 * symptom is drawn larger with a bright rim, so that it stands out by size as well as by colour; one whose
 * symptom has cleared has a hollow square of the same size.
 */
export function paintPixels(ctx: CanvasRenderingContext2D, scene: Scene): number {
  const { layout, columns, colouring, palette, view, ratio, now, staleAfterMs } = scene;
  const width = Math.round(scene.width * ratio);
  const height = Math.round(scene.height * ratio);
  const { image, pixels } = surface(ctx, width, height);
  pixels.fill(palette.pixelBackground);
  const scale = view.scale * ratio;
  const ox = view.offsetX * ratio;
  const oy = view.offsetY * ratio;
  const w = layout.metrics.tileWidth * scale;
  const h = layout.metrics.tileHeight * scale;
  const clip = (value: number, limit: number) => (value < 0 ? 0 : value > limit ? limit : value);
  const sick: number[] = [];
  const over: number[] = [];
  let painted = 0;
  for (const rack of layout.racks) {
    const rx0 = clip(Math.round(rack.x * scale + ox), width);
    const rx1 = clip(Math.round((rack.x + rack.width) * scale + ox), width);
    const ry0 = clip(Math.round(rack.y * scale + oy), height);
    const ry1 = clip(Math.round((rack.y + rack.height) * scale + oy), height);
    if (rx0 >= rx1 || ry0 >= ry1) continue;
    fill(pixels, width, rx0, ry0, rx1, ry1, palette.pixelPanel);
    for (let i = rack.from; i < rack.to; i++) {
      const row = layout.order[i] ?? 0;
      const left = Math.floor((layout.x[i] ?? 0) * scale + ox);
      const top = Math.floor((layout.y[i] ?? 0) * scale + oy);
      const x0 = clip(left, width);
      const x1 = clip(Math.max(left + 1, Math.floor(left + w)), width);
      const y1 = clip(Math.max(top + 1, Math.floor(top + h)), height);
      if (x0 >= x1) continue;
      const y0 = clip(isStale(columns, row, now, staleAfterMs) ? Math.floor(top + h / 2) : top, height);
      if (y0 >= y1) continue;
      painted++;
      if ((columns.symptoms[row]?.length ?? 0) > 0) sick.push(i);
      else if ((columns.recent[row]?.length ?? 0) > 0) over.push(i);
      fill(pixels, width, x0, y0, x1, y1, palette.pixel[colouring.shade(row)]);
    }
  }
  ctx.putImageData(image, 0, 0);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.lineWidth = 1.5;
  const size = Math.max(9, layout.metrics.tileHeight * view.scale);
  const corner = (i: number) => ({
    x: ((layout.x[i] ?? 0) + layout.metrics.tileWidth / 2) * view.scale + view.offsetX - size / 2,
    y: ((layout.y[i] ?? 0) + layout.metrics.tileHeight / 2) * view.scale + view.offsetY - size / 2,
  });
  ctx.strokeStyle = palette.dim;
  for (const i of over) {
    const { x, y } = corner(i);
    ctx.strokeRect(x, y, size, size);
  }
  for (const i of sick) {
    const { x, y } = corner(i);
    ctx.fillStyle = palette.bad;
    ctx.fillRect(x, y, size, size);
    ctx.strokeStyle = palette.mark;
    ctx.strokeRect(x, y, size, size);
  }
  return painted;
}
