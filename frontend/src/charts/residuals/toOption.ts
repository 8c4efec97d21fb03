import type { EChartsCoreOption } from "echarts/core";
import { formatNumber, formatShare } from "@/lib/format";
import type { ChartTheme } from "../chartTheme";
import { html, tooltipFormatter } from "../tooltip";

export interface ResidualPoint {
  label: string;
  /** Q_l + Q_r. */
  at: number;
  /** Model / measured - 1, as in the tables next to it, for the fit and for the previous profile. */
  fitted: number;
  current: number;
}

interface TooltipItem {
  seriesName: string;
  data: [number, number, string];
}

/** Residuals over queries: filled circles are the fit's, hollow squares those of the previous profile. */
export function residualsToOption(points: readonly ResidualPoint[], theme: ChartTheme): EChartsCoreOption {
  const data = (of: (point: ResidualPoint) => number) => points.map((point) => [point.at, of(point), point.label]);
  return {
    grid: { left: 52, right: 14, top: 26, bottom: 36 },
    legend: { top: 0, right: 28, textStyle: { color: theme.dim, fontSize: 11 } },
    tooltip: {
      trigger: "item",
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter(
        ({ seriesName, data: [at, off, label] }: TooltipItem) =>
          html`${label}<br />${seriesName}: ${formatShare(off)} at ${formatNumber(at)} lookups`,
      ),
    },
    xAxis: {
      type: "value",
      name: "Q local + Q remote",
      nameLocation: "middle",
      nameGap: 22,
      nameTextStyle: { color: theme.dim, fontSize: 11 },
      axisLine: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.dim, fontSize: 11 },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      name: "error",
      nameTextStyle: { color: theme.dim, fontSize: 11, align: "right" },
      nameGap: 8,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: (value: number) => formatShare(value) },
      splitLine: { lineStyle: { color: theme.line } },
    },
    series: [
      {
        name: "previous profile",
        type: "scatter",
        symbol: "rect",
        symbolSize: 8,
        itemStyle: { color: "transparent", borderColor: theme.series[1], borderWidth: 1.5 },
        data: data((point) => point.current),
      },
      {
        name: "fit",
        type: "scatter",
        symbol: "circle",
        symbolSize: 8,
        itemStyle: { color: theme.series[0] },
        data: data((point) => point.fitted),
      },
    ],
  };
}
