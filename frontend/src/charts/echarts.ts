/** What every chart of ours is made of; what only one kind of chart needs stands in `kinds`, so that other pages do not fetch it. */
import { LineChart } from "echarts/charts";
import {
  AxisPointerComponent,
  GridComponent,
  LegendPlainComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { connect, init, use as register, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

register([
  LineChart,
  AxisPointerComponent,
  GridComponent,
  LegendPlainComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  CanvasRenderer,
]);

export { connect as link, init };
export type { EChartsType };
