import { COLUMN_NAMES, emptyColumns, type Columns } from "@/lib/stream/columns";

type Values = { [Name in keyof Columns]: Columns[Name][number] };

/** One RNIC as tests write it: the host, and what is not ordinary about it. */
export type Row = Partial<Values> & Pick<Values, "host">;

const ORDINARY: Omit<Values, "host"> = {
  pci: "0000:3b:00.0",
  rack: "r1",
  model: "CX-6",
  headroom: 0.6,
  nearest_wall: "offloaded_flows",
  symptoms: [],
  recent: [],
  seen_at_ms: 1000,
  cordoned: false,
  tx_gbps: 10,
  rx_gbps: null,
};

/** Columns from rows, for tests that are easier to read by row. */
export function toColumns(rows: readonly Row[]): Columns {
  const columns = emptyColumns();
  for (const row of rows) {
    const values: Values = { ...ORDINARY, ...row };
    for (const name of COLUMN_NAMES) (columns[name] as unknown[]).push(values[name]);
  }
  return columns;
}
