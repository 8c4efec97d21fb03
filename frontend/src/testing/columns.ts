import { emptyColumns, type Columns } from "@/lib/stream/columns";

export interface Row {
  host: string;
  pci?: string;
  rack?: string | null;
  model?: string | null;
  headroom?: number | null;
  nearest_wall?: string | null;
  symptoms?: string[];
  recent?: string[];
  seen_at_ms?: number | null;
  cordoned?: boolean;
}

/** Columns from rows, for tests that are easier to read by row. Values left out are ordinary, not missing. */
export function toColumns(rows: readonly Row[]): Columns {
  const columns = emptyColumns();
  for (const row of rows) {
    columns.host.push(row.host);
    columns.pci.push(row.pci ?? "0000:3b:00.0");
    columns.rack.push(row.rack === undefined ? "r1" : row.rack);
    columns.model.push(row.model === undefined ? "CX-6" : row.model);
    columns.headroom.push(row.headroom === undefined ? 0.6 : row.headroom);
    columns.nearest_wall.push(row.nearest_wall === undefined ? "offloaded_flows" : row.nearest_wall);
    columns.symptoms.push(row.symptoms ?? []);
    columns.recent.push(row.recent ?? []);
    columns.seen_at_ms.push(row.seen_at_ms === undefined ? 1000 : row.seen_at_ms);
    columns.cordoned.push(row.cordoned ?? false);
    columns.tx_gbps.push(10);
    columns.rx_gbps.push(null);
  }
  return columns;
}
