import { useCallback } from "react";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { SeriesModel } from "./model";
import { seriesToOption } from "./toOption";

export function SeriesChart({ model, title, height = 170 }: { model: SeriesModel; title: string; height?: number }) {
  const toOption = useCallback((theme: ChartTheme) => seriesToOption(model, theme), [model]);
  const symptoms =
    model.intervals.length > 0 ? `; shaded: ${[...new Set(model.intervals.map((i) => i.symptom))].join(", ")}` : "";
  return <Chart toOption={toOption} height={height} label={`${title} over time${symptoms}`} />;
}
