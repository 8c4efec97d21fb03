import type { FleetColumns } from "../api/types";

/** The fleet in columns, as the server loads it whole and the stream's `rnic_state` sends changes of it: one place in every column is one RNIC. */
export type Columns = FleetColumns;

/** Every column of the API by name, none missing and none made up: the compiler holds it to the schema. */
const NAMES = {
  host: true,
  rack: true,
  pci: true,
  model: true,
  headroom: true,
  nearest_wall: true,
  symptoms: true,
  recent: true,
  seen_at_ms: true,
  cordoned: true,
  tx_gbps: true,
  rx_gbps: true,
} satisfies Record<keyof Columns, true>;

/** The UI's one list of columns: what is checked, copied and emptied is derived from it. */
export const COLUMN_NAMES = Object.keys(NAMES) as readonly (keyof Columns)[];

export function emptyColumns(): Columns {
  return Object.fromEntries(COLUMN_NAMES.map((name) => [name, []])) as unknown as Columns;
}

export function rnicKey(host: string, pci: string): string {
  return `${host}|${pci}`;
}

export function indexOf(columns: Columns): Map<string, number> {
  const index = new Map<string, number>();
  for (let i = 0; i < columns.host.length; i++) index.set(rnicKey(columns.host[i] ?? "", columns.pci[i] ?? ""), i);
  return index;
}

function copyRow(from: Columns, i: number, to: Columns, at: number): void {
  for (const name of COLUMN_NAMES) (to[name] as unknown[])[at] = from[name][i];
}

/**
 * Merge the changed rows into the fleet, in place. A row that is older than what is known is ignored, because a
 * reconnect may replay the past. Returns whether an RNIC was added or moved (then the layout must be recomputed).
 */
export function mergeRows(
  fleet: Columns,
  index: Map<string, number>,
  rows: Columns,
): { changed: number; reshaped: boolean } {
  let changed = 0;
  let reshaped = false;
  for (let i = 0; i < rows.host.length; i++) {
    const key = rnicKey(rows.host[i] ?? "", rows.pci[i] ?? "");
    let at = index.get(key);
    if (at === undefined) {
      at = fleet.host.length;
      index.set(key, at);
      reshaped = true;
    } else {
      const known = fleet.seen_at_ms[at] ?? null;
      const seen = rows.seen_at_ms[i] ?? null;
      if (known !== null && seen !== null && seen < known) continue;
      if (fleet.rack[at] !== (rows.rack[i] ?? null)) reshaped = true;
    }
    copyRow(rows, i, fleet, at);
    changed++;
  }
  return { changed, reshaped };
}
