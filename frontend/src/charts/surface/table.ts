import type { ChartTable } from "../table";
import { type SurfaceModel, UNIT } from "./model";

/** The surface, a row for each lookup count at the receiver. */
export function surfaceTable({ quantity, qL, qR, values }: SurfaceModel): ChartTable {
  return {
    columns: [`${quantity} (${UNIT[quantity]}) at Q_r`, ...qL.map((q) => `Q_l ${q}`)],
    rows: qR.map((q, i) => [q, ...(values[i] ?? [])]),
  };
}
