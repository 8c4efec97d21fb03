import { HeatmapChart } from "echarts/charts";
import { VisualMapPiecewiseComponent } from "echarts/components";
import { use as register } from "echarts/core";

register([HeatmapChart, VisualMapPiecewiseComponent]);
