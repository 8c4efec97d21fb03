import { createContext } from "react";
import type { EChartsType } from "./echarts";

/** What a chart needs of ECharts. */
export type Painter = Pick<
  EChartsType,
  "group" | "on" | "off" | "setOption" | "resize" | "dispose" | "convertFromPixel" | "getDataURL"
>;

/** How a chart gets its painter; null: ECharts on a canvas. Tests without a canvas provide another. */
export const ChartEngine = createContext<((holder: HTMLElement) => Painter) | null>(null);
