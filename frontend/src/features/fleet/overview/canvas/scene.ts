import type { Columns } from "@/lib/stream/columns";
import type { Colouring } from "../colouring";
import type { FleetLayout } from "./layout";
import type { Palette } from "./palette";
import type { View } from "./view";

export interface Scene {
  layout: FleetLayout;
  columns: Columns;
  colouring: Colouring;
  palette: Palette;
  view: View;
  /** Place in layout order of the tile under the pointer and of the one with the keyboard's focus; -1 for none. */
  hover: number;
  focus: number;
  /** The wall clock, milliseconds: decides which tiles are stale. */
  now: number;
  /** An RNIC whose last sample is older is stale, milliseconds. */
  staleAfterMs: number;
  /** Of the canvas, in CSS pixels. */
  width: number;
  height: number;
  ratio: number;
}

export function isStale(columns: Columns, row: number, now: number, staleAfterMs: number): boolean {
  const seen = columns.seen_at_ms[row];
  return seen === null || seen === undefined || now - seen > staleAfterMs;
}
