import type { ChartTable } from "../table";
import type { MaskModel } from "./model";

/** A mask chain in lookup order. */
export function masksTable({ bars }: MaskModel): ChartTable {
  return {
    columns: ["Position", "Match", "Flows", "Packets/s", "Length (bits)"],
    rows: [...bars]
      .sort((a, b) => a.position - b.position)
      .map((bar) => [bar.position, bar.match, bar.flows, bar.packets, bar.lengthBits]),
  };
}
