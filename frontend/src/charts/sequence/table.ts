import type { ChartTable } from "../table";
import type { SequenceModel } from "./model";

/** All that is drawn, by time. */
export function sequenceTable({ points, resent, losses, nacks, cnps }: SequenceModel): ChartTable {
  const rows: [number, number | null, string][] = [
    ...points.map(([ms, psn]): [number, number, string] => [ms, psn, "packet"]),
    ...resent.map(({ at: [ms, psn], kind }): [number, number, string] => [ms, psn, `retransmission (${kind})`]),
    ...losses.map(([ms, psn]): [number, number, string] => [ms, psn, "loss"]),
    ...nacks.map(([ms, psn]): [number, number, string] => [ms, psn, "NACK"]),
    ...cnps.map((ms): [number, null, string] => [ms, null, "CNP"]),
  ];
  return { columns: ["Time (ms)", "PSN", "What"], rows: rows.sort((a, b) => a[0] - b[0]) };
}
