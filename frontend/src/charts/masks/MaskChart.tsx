import { useCallback } from "react";
import "../kinds/bars";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { MaskModel } from "./model";
import { masksTable } from "./table";
import { masksToOption } from "./toOption";

export function MaskChart({ model, direction }: { model: MaskModel; direction: string }) {
  const toOption = useCallback((theme: ChartTheme) => masksToOption(model, theme), [model]);
  const table = useCallback(() => masksTable(model), [model]);
  return (
    <Chart
      toOption={toOption}
      title={`${direction} mask chain`}
      table={table}
      height={190}
      label={`${direction} mask chain: ${model.bars.length} masks in lookup order`}
    />
  );
}
