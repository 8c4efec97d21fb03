import { useCallback } from "react";
import { plural } from "@/lib/format";
import "../kinds/points";
import "../kinds/zoom";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { SequenceModel } from "./model";
import { sequenceTable } from "./table";
import { sequenceToOption } from "./toOption";

/** PSNs of one queue pair over time. */
export function SequenceChart({
  model,
  title,
  height = 380,
}: {
  model: SequenceModel;
  title: string;
  height?: number;
}) {
  const toOption = useCallback((theme: ChartTheme) => sequenceToOption(model, theme), [model]);
  const what = [
    plural(model.points.length, "point"),
    plural(model.resent.length, "retransmission"),
    plural(model.nacks.length, "NACK"),
    plural(model.cnps.length, "CNP"),
  ].join(", ");
  const table = useCallback(() => sequenceTable(model), [model]);
  return (
    <Chart toOption={toOption} height={height} label={`${title}: PSN over time, ${what}`} title={title} table={table} />
  );
}
