import { useCallback } from "react";
import { plural } from "@/lib/format";
import "../kinds/points";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import { type ResidualPoint, residualsToOption } from "./toOption";

export function ResidualChart({ points, title }: { points: readonly ResidualPoint[]; title: string }) {
  const toOption = useCallback((theme: ChartTheme) => residualsToOption(points, theme), [points]);
  const table = useCallback(
    () => ({
      columns: ["Point", "Lookups per packet", "Residual of the fit", "Residual of the previous profile"],
      rows: points.map((point) => [point.label, point.at, point.fitted, point.current]),
    }),
    [points],
  );
  return (
    <Chart
      toOption={toOption}
      height={180}
      label={`${title}: ${plural(points.length, "point")} over mask lookups`}
      title={title}
      table={table}
    />
  );
}
