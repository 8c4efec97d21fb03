import { symptomMark } from "@/lib/symptoms";
import { isStale, type Scene } from "./scene";

/** From this many CSS pixels of width a tile shows words, below it only marks. */
const LABEL_WIDTH = 84;

function hatch(ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, color: string): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.globalAlpha = 0.5;
  ctx.lineWidth = 1;
  ctx.beginPath();
  const step = Math.max(4, Math.min(8, h / 4));
  for (let d = -h; d < w; d += step) {
    ctx.moveTo(x + d, y + h);
    ctx.lineTo(x + d + h, y);
  }
  ctx.stroke();
  ctx.restore();
}

/** The mark for being at (triangle) or past (diamond) a wall: the same fact as the colour, by shape. */
function bandMark(ctx: CanvasRenderingContext2D, x: number, y: number, size: number, beyond: boolean): void {
  ctx.beginPath();
  ctx.moveTo(x + size / 2, y);
  if (beyond) {
    ctx.lineTo(x + size, y + size / 2);
    ctx.lineTo(x + size / 2, y + size);
    ctx.lineTo(x, y + size / 2);
  } else {
    ctx.lineTo(x + size, y + size);
    ctx.lineTo(x, y + size);
  }
  ctx.closePath();
  ctx.fill();
}

/** Cordoned: a barred circle. */
function cordonMark(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.arc(x + size / 2, y + size / 2, size / 2, 0, Math.PI * 2);
  ctx.moveTo(x + size * 0.15, y + size * 0.85);
  ctx.lineTo(x + size * 0.85, y + size * 0.15);
  ctx.lineWidth = Math.max(1.25, size / 8);
  ctx.stroke();
}

/** Chips from the right; hollow and dashed for symptoms that are over. Returns where the next one would end. */
function chips(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  symptoms: readonly string[],
  right: number,
  y: number,
  size: number,
  font: string,
  over = false,
): number {
  ctx.font = `700 ${size}px ${font}`;
  ctx.textBaseline = "middle";
  let x = right;
  for (const symptom of symptoms.slice(0, 3).reverse()) {
    const word = symptomMark(symptom);
    const width = ctx.measureText(word).width + size * 0.7;
    x -= width;
    if (over) {
      ctx.strokeStyle = ctx.fillStyle;
      ctx.lineWidth = 1;
      ctx.setLineDash([2, 2]);
      ctx.strokeRect(x + 0.5, y + 0.5, width - 1, size * 1.45 - 1);
      ctx.setLineDash([]);
      ctx.fillText(word, x + size * 0.35, y + size * 0.77);
    } else {
      ctx.fillStyle = scene.palette.text;
      ctx.fillRect(x, y, width, size * 1.45);
      ctx.fillStyle = scene.palette.panel;
      ctx.fillText(word, x + size * 0.35, y + size * 0.77);
    }
    x -= 3;
  }
  return x;
}

export function paintTile(ctx: CanvasRenderingContext2D, scene: Scene, tile: number, font: string): void {
  const { layout, columns, colouring, palette, view } = scene;
  const row = layout.order[tile] ?? 0;
  const x = (layout.x[tile] ?? 0) * view.scale + view.offsetX;
  const y = (layout.y[tile] ?? 0) * view.scale + view.offsetY;
  const w = layout.metrics.tileWidth * view.scale;
  const h = layout.metrics.tileHeight * view.scale;
  if (x > scene.width || y > scene.height || x + w < 0 || y + h < 0) return;
  const band = colouring.shade(row);
  const ink = palette.onBand[band];
  const symptoms = columns.symptoms[row] ?? [];
  const recent = columns.recent[row] ?? [];
  ctx.fillStyle = palette.band[band];
  ctx.fillRect(x, y, w, h);
  if (isStale(columns, row, scene.now, scene.staleAfterMs)) hatch(ctx, x, y, w, h, ink);
  if (symptoms.length > 0) {
    const rim = w > 40 ? 3 : 2;
    ctx.strokeStyle = palette.bad;
    ctx.lineWidth = rim;
    ctx.strokeRect(x - rim / 2, y - rim / 2, w + rim, h + rim);
    ctx.strokeStyle = palette.mark;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  ctx.fillStyle = ink;
  ctx.strokeStyle = ink;
  if (w < LABEL_WIDTH) {
    const mark = Math.min(h * 0.55, 12);
    if (symptoms.length > 0 && w >= 22)
      chips(ctx, scene, symptoms.slice(0, w > 44 ? 2 : 1), x + w - 1, y + 1, Math.min(11, h * 0.5), font);
    else if (band === "beyond" || band === "near")
      bandMark(ctx, x + (w - mark) / 2, y + (h - mark) / 2, mark, band === "beyond");
    else if (recent.length > 0 && w >= 22)
      chips(ctx, scene, recent.slice(0, 1), x + w - 1, y + 1, Math.min(11, h * 0.5), font, true);
    ctx.strokeStyle = ink;
    if (columns.cordoned[row]) cordonMark(ctx, x + 2, y + h - mark - 1, mark * 0.9);
    return;
  }
  const unit = Math.min(w / 150, h / 64);
  const pad = 8 * unit;
  // A tile that is taller than its words has the value at its foot, larger.
  const spare = Math.max(0, h - 64 * unit);
  ctx.textBaseline = "middle";
  ctx.font = `600 ${13 * unit}px ${font}`;
  ctx.fillText((columns.pci[row] ?? "").replace(/^0000:/, ""), x + pad, y + 15 * unit, w * 0.62);
  ctx.font = `${11 * unit}px ${font}`;
  ctx.fillText(columns.model[row] ?? "unknown model", x + pad, y + 32 * unit, w * 0.6);
  const share = colouring.share(row);
  const marked = band === "beyond" || band === "near";
  if (marked) bandMark(ctx, x + pad, y + spare + 42.5 * unit, 9 * unit, band === "beyond");
  ctx.font = `600 ${11.5 * unit + Math.min(3 * unit, spare / 10)}px ${font}`;
  ctx.fillText(colouring.text(row), x + pad + (marked ? 13 * unit : 0), y + spare + 47.5 * unit, w - 2 * pad);
  if (share !== null) {
    ctx.globalAlpha = 0.28;
    ctx.fillRect(x, y + h - 4 * unit, w, 4 * unit);
    ctx.globalAlpha = 1;
    ctx.fillRect(x, y + h - 4 * unit, w * share, 4 * unit);
  }
  const left = chips(ctx, scene, symptoms, x + w - 5 * unit, y + 6 * unit, 11 * unit, font);
  ctx.fillStyle = ink;
  if (symptoms.length < 2) chips(ctx, scene, recent.slice(0, 1), left, y + 6 * unit, 11 * unit, font, true);
  ctx.strokeStyle = ink;
  if (columns.cordoned[row]) cordonMark(ctx, x + w - 20 * unit, y + 26 * unit, 13 * unit);
}
