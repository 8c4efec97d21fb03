import { RATE_SHADES, type Shade } from "../colouring";

/** The colours a canvas needs, read from the theme's tokens: a canvas can't use CSS variables. */
export interface Palette {
  background: string;
  panel: string;
  line: string;
  text: string;
  dim: string;
  accent: string;
  mark: string;
  bad: string;
  band: Record<Shade, string>;
  onBand: Record<Shade, string>;
  /** The same colours as 32-bit pixels, byte order of ImageData. */
  pixel: Record<Shade, number>;
  pixelBackground: number;
  pixelPanel: number;
}

const SHADES: readonly Shade[] = ["beyond", "near", "high", "moderate", "low", "unknown", ...RATE_SHADES];

/** `#rrggbb` as one little-endian RGBA word. */
export function toPixel(hex: string): number {
  const value = Number.parseInt(hex.trim().slice(1), 16);
  if (!Number.isFinite(value)) return 0xff000000;
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

function each<T>(make: (shade: Shade) => T): Record<Shade, T> {
  return Object.fromEntries(SHADES.map((shade) => [shade, make(shade)])) as Record<Shade, T>;
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(`--ww-${name}`).trim() || "#808080";
  const band = each((name) => token(`band-${name}`));
  return {
    background: token("bg"),
    panel: token("panel"),
    line: token("line"),
    text: token("text"),
    dim: token("dim"),
    accent: token("accent"),
    mark: token("mark"),
    bad: token("bad"),
    band,
    onBand: each((name) => token(`on-band-${name}`)),
    pixel: each((name) => toPixel(band[name])),
    pixelBackground: toPixel(token("bg")),
    pixelPanel: toPixel(token("panel")),
  };
}
