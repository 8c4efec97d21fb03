import type { EChartsCoreOption } from "echarts/core";
import { formatNumber, formatValue } from "@/lib/format";
import type { ChartTheme } from "../chartTheme";
import { html, tooltipFormatter } from "../tooltip";

export interface SensitivityModel {
  parameter: string;
  unit: string;
  /** A number's axis is continuous; what has no order between its values stands in categories. */
  numeric: boolean;
  metric: string | null;
  metricUnit: string;
  points: readonly { x: number; label: string; bad: boolean; y: number | null }[];
  /** Between the last good and the first bad value. */
  threshold: { lastGood: number; firstBad: number } | null;
}

interface TooltipItem {
  data: { label: string; bad: boolean; value: [number, number] };
}

const LOG_FROM = 200;

/** Far apart values need a logarithmic axis, or the small ones lie on each other. */
function isWide(xs: readonly number[]): boolean {
  const least = Math.min(...xs);
  return least > 0 && Math.max(...xs) / least > LOG_FROM;
}

/**
 * One metric along one parameter: a line through the tests; bad ones are filled diamonds, good ones hollow circles. Without a
 * metric the height says only whether the test was bad.
 */
export function sensitivityToOption(model: SensitivityModel, theme: ChartTheme): EChartsCoreOption {
  const { metric, points, numeric, threshold } = model;
  const drawn = points
    .map((point) => ({ ...point, y: metric === null ? (point.bad ? 1 : 0) : point.y }))
    .filter((point) => point.y !== null);
  const yName = metric === null ? "" : `${metric}${model.metricUnit ? ` [${model.metricUnit}]` : ""}`;
  return {
    grid: { left: 52, right: 18, top: 30, bottom: 38 },
    tooltip: {
      trigger: "item",
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter(({ data: { label, bad, value } }: TooltipItem) => {
        const measured = metric === null ? "" : html`<br />${metric} ${formatValue(value[1], model.metricUnit)}`;
        return html`${model.parameter} ${label}: ${bad ? "bad" : "good"}${measured}`;
      }),
    },
    xAxis: {
      type: !numeric ? "category" : isWide(points.map(({ x }) => x)) ? "log" : "value",
      ...(numeric ? { scale: true } : { data: points.map(({ label }) => label) }),
      name: `${model.parameter}${model.unit && model.unit !== model.parameter ? ` [${model.unit}]` : ""}`,
      nameLocation: "middle",
      nameGap: 22,
      nameTextStyle: { color: theme.dim, fontSize: 11 },
      axisLine: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.dim, fontSize: 11, hideOverlap: true, ...(numeric ? { formatter: formatNumber } : {}) },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: 0,
      // Room for the name of the threshold above the highest point.
      boundaryGap: [0, "15%"],
      ...(metric === null ? { max: 1, interval: 1 } : {}),
      name: yName,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: "left", padding: [0, 0, 0, -44] },
      nameGap: 8,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        formatter: (value: number) => (metric === null ? (value === 1 ? "bad" : "good") : formatNumber(value)),
      },
      splitLine: { lineStyle: { color: theme.line } },
    },
    series: [
      {
        type: "line",
        step: metric === null ? "middle" : undefined,
        // Between values without an order there is nothing to draw.
        lineStyle: { color: theme.series[0], width: numeric ? 1.5 : 0 },
        data: drawn.map(({ x, y, label, bad }) => ({
          value: numeric ? [x, y] : [label, y],
          label,
          bad,
          symbol: bad ? "diamond" : "emptyCircle",
          symbolSize: bad ? 11 : 7,
          itemStyle: { color: bad ? theme.bad : theme.series[0] },
        })),
        ...(threshold && numeric
          ? {
              markArea: {
                silent: true,
                itemStyle: { color: theme.shade },
                data: [
                  [{ xAxis: threshold.firstBad }, { xAxis: Math.max(...points.map(({ x }) => x), threshold.firstBad) }],
                ],
              },
              markLine: {
                silent: true,
                symbol: "none",
                lineStyle: { color: theme.bad, type: "dashed", width: 1 },
                label: {
                  color: theme.bad,
                  fontSize: 11,
                  position: "end",
                  distance: 2,
                  formatter: `first bad ${formatNumber(threshold.firstBad)}`,
                },
                data: [{ xAxis: threshold.firstBad }],
              },
            }
          : {}),
      },
    ],
  };
}
