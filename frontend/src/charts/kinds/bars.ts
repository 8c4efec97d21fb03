import { BarChart } from "echarts/charts";
import { use as register } from "echarts/core";

register([BarChart]);
