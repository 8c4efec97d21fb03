import type { EChartsCoreOption } from "echarts/core";
import { formatNumber, formatValue } from "@/lib/format";
import type { ChartTheme } from "../chartTheme";
import { type Html, html, tooltipFormatter } from "../tooltip";
import { type SurfaceModel, type SurfacePoint, UNIT } from "./model";

interface TooltipItem {
  data: { cell?: [number, number, number]; point?: SurfacePoint };
}

/** Steps of the colour scale: few enough to be read as contour lines. */
const BANDS = 9;

function extent(values: readonly (readonly number[])[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const row of values) {
    for (const value of row) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Three digits: the edge of a band is no measurement. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** Half a cell beyond the first and last grid line, so that the axes of points and cells coincide. */
function range(grid: readonly number[]): { min: number; max: number } {
  const first = grid[0] ?? 0;
  const last = grid[grid.length - 1] ?? 1;
  const half = grid.length > 1 ? (last - first) / (grid.length - 1) / 2 : 0.5;
  return { min: first - half, max: last + half };
}

/** Beyond the edge a point stands at the edge, and its tooltip says where it really is. */
export function clamped(point: SurfacePoint, model: Pick<SurfaceModel, "qL" | "qR">): [number, number] {
  const last = (grid: readonly number[]) => grid[grid.length - 1] ?? 0;
  return [Math.min(point.qL, last(model.qL)), Math.min(point.qR, last(model.qR))];
}

function pointText({ label, qL, qR, note }: SurfacePoint): Html {
  const lines = [html`<b>${label}</b>`, html`Q local ${formatNumber(qL)}, Q remote ${formatNumber(qR)}`];
  return html`${note ? [...lines, html`${note}`] : lines}`;
}

/** The surface as coloured cells in bands, RNICs as dots, a path as a line that ends in a large dot. */
export function surfaceToOption(model: SurfaceModel, theme: ChartTheme): EChartsCoreOption {
  const [low, high] = extent(model.values);
  const unit = UNIT[model.quantity];
  const spot = (point: SurfacePoint) => ({ value: clamped(point, model), point });
  const newest = model.path[model.path.length - 1];
  const hiddenAxis = (grid: readonly number[]) => ({
    type: "category",
    data: grid.map(String),
    show: false,
    boundaryGap: true,
  });
  const axis = (grid: readonly number[], name: string, position: "bottom" | "left") => ({
    type: "value",
    position,
    ...range(grid),
    name,
    nameLocation: "middle",
    nameGap: 28,
    nameTextStyle: { color: theme.dim, fontSize: 12 },
    axisLine: { lineStyle: { color: theme.line } },
    axisLabel: {
      color: theme.dim,
      fontSize: 11,
      formatter: (value: number) =>
        Number.isInteger(value) && value >= (grid[0] ?? 0) && value <= (grid[grid.length - 1] ?? 1)
          ? String(value)
          : "",
    },
    splitLine: { show: false },
  });
  const over = { xAxisIndex: 1, yAxisIndex: 1 };
  return {
    grid: { left: 56, right: 104, top: 14, bottom: 44 },
    tooltip: {
      trigger: "item",
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter(({ data }: TooltipItem) => {
        if (data.point) return pointText(data.point);
        const [qL, qR, value] = data.cell ?? [0, 0, 0];
        return html`Q local ${formatNumber(qL)}, Q remote ${formatNumber(qR)}<br /><b>${formatValue(value, unit)}</b>`;
      }),
    },
    visualMap: {
      type: "piecewise",
      min: low,
      max: high,
      splitNumber: BANDS,
      seriesIndex: 0,
      right: 0,
      top: "middle",
      itemWidth: 12,
      itemHeight: 12,
      formatter: (from: number, to: number) => `${formatNumber(round(from))} to ${formatNumber(round(to))}`,
      textStyle: { color: theme.dim, fontSize: 11 },
      inRange: { color: [theme.line, theme.accent] },
    },
    xAxis: [hiddenAxis(model.qL), axis(model.qL, "mask lookups in the local egress chain", "bottom")],
    yAxis: [hiddenAxis(model.qR), axis(model.qR, "mask lookups at the peers", "left")],
    series: [
      {
        type: "heatmap",
        data: model.values.flatMap((row, y) =>
          row.map((value, x) => ({ value: [x, y, value], cell: [model.qL[x] ?? 0, model.qR[y] ?? 0, value] })),
        ),
        emphasis: { disabled: true },
        progressive: 0,
      },
      {
        type: "scatter",
        ...over,
        symbolSize: model.points.length > 500 ? 4 : 8,
        itemStyle: { color: theme.series[1], borderColor: theme.panel, borderWidth: 1 },
        data: model.points.map(spot),
      },
      {
        type: "line",
        ...over,
        silent: true,
        showSymbol: false,
        lineStyle: { color: theme.text, width: 1.5 },
        data: model.path.map((point) => clamped(point, model)),
      },
      {
        type: "scatter",
        ...over,
        symbol: "circle",
        symbolSize: 13,
        itemStyle: { color: theme.series[1], borderColor: theme.text, borderWidth: 2 },
        data: newest ? [spot(newest)] : [],
      },
      {
        type: "scatter",
        ...over,
        symbol: "diamond",
        symbolSize: 16,
        itemStyle: { color: theme.bad, borderColor: theme.text, borderWidth: 1.5 },
        data: model.asked ? [spot(model.asked)] : [],
      },
    ],
  };
}
