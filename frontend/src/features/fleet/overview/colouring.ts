import { formatHeadroom, formatValue } from "@/lib/format";
import { type Band, bandOf } from "@/lib/headroom";
import type { Columns } from "@/lib/stream/columns";
import { type FleetView, limitOf, RATES } from "./view";

export const RATE_SHADES = ["rate1", "rate2", "rate3", "rate4", "rate5"] as const;
/** What a tile is filled with: how much of a limit is used, or a fifth of the fleet's highest rate. */
export type Shade = Band | (typeof RATE_SHADES)[number];

export interface Colouring {
  shade: (row: number) => Shade;
  text: (row: number) => string;
  /** How far the tile's bar reaches, 0 to 1; null where nothing is known. */
  share: (row: number) => number | null;
  /** For rates: the rate that the darkest fifth ends at. */
  highest: number | null;
}

/** By the nearest limit, by one limit (with `headrooms` row by row), or by a rate. */
export function colouringOf(
  columns: Columns,
  view: FleetView,
  headrooms: readonly (number | null)[] | null,
): Colouring {
  const rate = RATES.find(({ value }) => value === view.colour);
  if (rate) return byRate(columns[rate.value]);
  const values = limitOf(view) === null ? columns.headroom : (headrooms ?? []);
  return {
    shade: (row) => bandOf(values[row]),
    text: (row) => formatHeadroom(values[row]),
    share: (row) => {
      const headroom = values[row];
      return headroom === null || headroom === undefined ? null : Math.min(1, Math.max(0, 1 - headroom));
    },
    highest: null,
  };
}

function byRate(values: readonly (number | null)[]): Colouring {
  let highest = 0;
  for (const value of values) if (value !== null && value > highest) highest = value;
  const share = (row: number) => {
    const value = values[row];
    return value === null || value === undefined ? null : highest > 0 ? value / highest : 0;
  };
  return {
    shade: (row) => {
      const of = share(row);
      return of === null ? "unknown" : (RATE_SHADES[Math.min(4, Math.floor(of * 5))] ?? "unknown");
    },
    text: (row) => formatValue(values[row], "Gbit/s"),
    share,
    highest,
  };
}
