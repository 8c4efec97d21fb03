import type { WallColumns } from "../api/types";

/** The fleet in columns, as GET /wall and the stream's `rnic_state` deliver it: one place in every column is one RNIC. */
export type Columns = WallColumns;

export function emptyColumns(): Columns {
  return {
    host: [], rack: [], pci: [], model: [], headroom: [], nearest_wall: [], symptoms: [], recent: [], seen_at_ms: [], cordoned: [], tx_gbps: [], rx_gbps: [],
  };
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
  to.host[at] = from.host[i] ?? "";
  to.rack[at] = from.rack[i] ?? null;
  to.pci[at] = from.pci[i] ?? "";
  to.model[at] = from.model[i] ?? null;
  to.headroom[at] = from.headroom[i] ?? null;
  to.nearest_wall[at] = from.nearest_wall[i] ?? null;
  to.symptoms[at] = from.symptoms[i] ?? [];
  to.recent[at] = from.recent[i] ?? [];
  to.seen_at_ms[at] = from.seen_at_ms[i] ?? null;
  to.cordoned[at] = from.cordoned[i] ?? false;
  to.tx_gbps[at] = from.tx_gbps[i] ?? null;
  to.rx_gbps[at] = from.rx_gbps[i] ?? null;
}

/**
 * Merge the changed rows into the fleet, in place. A row that is older than what is known is ignored, because a
 * reconnect may replay the past. Returns whether an RNIC was added or moved (then the layout must be made anew).
 */
export function mergeRows(fleet: Columns, index: Map<string, number>, rows: Columns): { changed: number; reshaped: boolean } {
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
