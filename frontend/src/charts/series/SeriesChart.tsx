import { useCallback, useMemo } from "react";
import { Chart, type ChartProps } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { SeriesModel } from "./model";
import { picksOf } from "./picks";
import { seriesTable } from "./table";
import { type SeriesLook, seriesToOption } from "./toOption";

interface Props extends Pick<ChartProps, "group" | "onZoom" | "onZoomOut">, SeriesLook {
  model: SeriesModel;
  title: string;
  height?: number;
  /** Called with the target of an interval that someone opens. */
  onOpen?: (target: string) => void;
}

export function SeriesChart({ model, title, height = 170, stacked, timeAxis, legendLeft, onOpen, ...wrapper }: Props) {
  const toOption = useCallback(
    (theme: ChartTheme) => seriesToOption(model, theme, { stacked, timeAxis, legendLeft }),
    [model, stacked, timeAxis, legendLeft],
  );
  const table = useCallback(() => seriesTable(model), [model]);
  const picks = useMemo(() => (onOpen ? picksOf(model, onOpen) : undefined), [model, onOpen]);
  const marked = model.intervalsAs === "ribbon" ? "marked" : "shaded";
  const symptoms =
    model.intervals.length > 0 ? `; ${marked}: ${[...new Set(model.intervals.map((i) => i.symptom))].join(", ")}` : "";
  return (
    <Chart
      toOption={toOption}
      height={height}
      label={`${title} over time${symptoms}`}
      title={title}
      table={table}
      {...picks}
      {...wrapper}
    />
  );
}
