import { STALE_AFTER_MS } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import type { WallLayout } from "./layout";
import type { Palette } from "./palette";
import type { View } from "./view";

export interface Scene {
  layout: WallLayout;
  columns: Columns;
  palette: Palette;
  view: View;
  /** Place in layout order of the tile under the pointer and of the one with the keyboard's focus; -1 for none. */
  hover: number;
  focus: number;
  /** The wall clock, milliseconds: decides which tiles are stale. */
  now: number;
  /** Of the canvas, in CSS pixels. */
  width: number;
  height: number;
  ratio: number;
}

export function isStale(columns: Columns, row: number, now: number): boolean {
  const seen = columns.seen_at_ms[row];
  return seen === null || seen === undefined || now - seen > STALE_AFTER_MS;
}
