import { useCallback } from "react";
import { Chart } from "../Chart";
import type { ChartTheme } from "../chartTheme";
import type { MaskModel } from "./model";
import { masksToOption } from "./toOption";

export function MaskChart({ model, direction }: { model: MaskModel; direction: string }) {
  const toOption = useCallback((theme: ChartTheme) => masksToOption(model, theme), [model]);
  return (
    <Chart
      toOption={toOption}
      height={190}
      label={`${direction} mask chain: ${model.bars.length} masks in lookup order`}
    />
  );
}
