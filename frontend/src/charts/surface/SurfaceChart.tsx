import { useCallback } from "react";
import { plural } from "@/lib/format";
import "../kinds/cells";
import "../kinds/points";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { SurfaceModel } from "./model";
import { surfaceTable } from "./table";
import { surfaceToOption } from "./toOption";

/** Bandwidth or latency over mask lookups, seen from above. */
export function SurfaceChart({ model, title, height = 380 }: { model: SurfaceModel; title: string; height?: number }) {
  const toOption = useCallback((theme: ChartTheme) => surfaceToOption(model, theme), [model]);
  const on = model.path.length > 0 ? "with the RNIC’s path" : `with ${plural(model.points.length, "RNIC")}`;
  const table = useCallback(() => surfaceTable(model), [model]);
  return (
    <Chart
      toOption={toOption}
      height={height}
      label={`${title}: ${model.quantity} over mask lookups, ${on}`}
      title={`${title} ${model.quantity}`}
      table={table}
    />
  );
}
