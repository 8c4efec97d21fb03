import { useCallback } from "react";
import { plural } from "@/lib/format";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import { type SensitivityModel, sensitivityToOption } from "./toOption";

export function SensitivityChart({ model }: { model: SensitivityModel }) {
  const toOption = useCallback((theme: ChartTheme) => sensitivityToOption(model, theme), [model]);
  const bad = model.points.filter((point) => point.bad).length;
  const table = useCallback(
    () => ({
      columns: [model.parameter, `${model.metric ?? "Verdict"} ${model.metricUnit}`.trim(), "Verdict"],
      rows: model.points.map((point) => [point.label, point.y, point.bad ? "bad" : "good"]),
    }),
    [model],
  );
  return (
    <Chart
      title={`${model.metric ?? "Verdict"} over ${model.parameter}`}
      table={table}
      toOption={toOption}
      height={190}
      label={`${model.metric ?? "Verdict"} over ${model.parameter}: ${plural(model.points.length, "test")}, ${bad} bad`}
    />
  );
}
