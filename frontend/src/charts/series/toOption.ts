import type { EChartsCoreOption } from "echarts/core";
import { formatNumber, formatShare, formatValue } from "@/lib/format";
import type { ChartTheme } from "../chartTheme";
import { html, marker, tooltipFormatter } from "../tooltip";
import { toPoints } from "./gaps";
import { axisTop } from "./axis";
import type { SeriesModel } from "./model";

interface TooltipPoint {
  seriesIndex: number;
  marker: string;
  value: [number, number | null];
}

/** In less of the chart than this, an interval has no room for its name. */
const ROOM_FOR_NAME = 0.08;
const RIBBON_PX = 3;

function nameOf({ symptom, from, to }: { symptom: string; from: number; to: number }, span: number): string {
  return to - from < span * ROOM_FOR_NAME ? "" : symptom;
}

function clippedAreas({ intervals, fromMs, toMs, intervalsAs }: SeriesModel, top: number, nameless: boolean) {
  const [upper, lower] = intervalsAs === "ribbon" ? [{ y: top }, { y: top + RIBBON_PX }] : [{}, {}];
  return intervals
    .map((each) => ({
      symptom: each.symptom,
      from: Math.max(each.fromMs, fromMs),
      to: Math.min(each.toMs ?? toMs, toMs),
    }))
    .filter((each) => each.to > each.from)
    .map((each) => [
      { name: nameless ? "" : nameOf(each, toMs - fromMs), xAxis: each.from, ...upper },
      { xAxis: each.to, ...lower },
    ]);
}

/** The highest value that a line reaches; -Infinity when all values are missing. */
function highest(model: SeriesModel): number {
  let top = -Infinity;
  for (const line of model.lines) for (const value of line.values) if (value !== null && value > top) top = value;
  return top;
}

/** The lowest; Infinity when all are missing. */
function lowest(model: SeriesModel): number {
  let low = Infinity;
  for (const line of model.lines) for (const value of line.values) if (value !== null && value < low) low = value;
  return low;
}

/** Where the plot begins and ends inside a chart, so that what stands above it can share its time axis. Pixels. */
export const PLOT_TOP = 26;
export const PLOT_LEFT = 52;
export const PLOT_RIGHT = 14;

export interface SeriesLook {
  /** One of several that stand on one another: what names the unit and the symptoms stands around them. */
  stacked?: boolean;
  /** Of these, the lowest alone has the time axis. */
  timeAxis?: boolean;
  legendLeft?: number;
}

/** The area between two lines: an unseen line, and what the other one has above it. */
function bandSeries(model: SeriesModel, theme: ChartTheme) {
  const [low, high] = [model.band?.low, model.band?.high].map(
    (name) => model.lines.find((line) => line.name === name)?.values,
  );
  if (!low || !high) return [];
  const width = high.map((value, i) =>
    value === null || low[i] === null || low[i] === undefined ? null : value - low[i],
  );
  const unseen = {
    type: "line",
    stack: "band",
    symbol: "none",
    silent: true,
    lineStyle: { width: 0 },
    emphasis: { disabled: true },
    tooltip: { show: false },
  };
  return [
    { ...unseen, name: "band from", data: toPoints(model.timesMs, low) },
    {
      ...unseen,
      name: "band",
      areaStyle: { color: theme.series[0], opacity: 0.16 },
      data: toPoints(model.timesMs, width),
    },
  ];
}

/** The limit as a line across, and a moment as one upright. */
function markLine(
  limit: SeriesModel["limit"],
  { mark, events = [], fromMs, toMs }: SeriesModel,
  { end, top }: { end: number; top: number },
  theme: ChartTheme,
) {
  const changes = events.filter((ms) => ms >= fromMs && ms <= toMs);
  if (!limit && !mark && changes.length === 0) return undefined;
  const thin = { lineStyle: { color: theme.dim, type: "dotted", width: 1 }, label: { show: false } };
  const upright = {
    xAxis: mark?.atMs,
    lineStyle: { color: theme.text, type: "dashed" },
    label: { color: theme.text, position: "end", formatter: mark?.label },
  };
  return {
    silent: true,
    symbol: "none",
    lineStyle: { color: theme.bad, type: "solid", width: 1 },
    label: {
      color: theme.bad,
      fontSize: 11,
      // Below a line close to the axis, the name would stand on the times.
      position: limit && end > limit.value && limit.value > top * 0.15 ? "insideEndBottom" : "insideEndTop",
      formatter: limit?.label,
    },
    data: [
      ...(limit ? [{ yAxis: limit.value }] : []),
      ...(mark ? [upright] : []),
      ...changes.map((xAxis) => ({ xAxis, ...thin })),
    ],
  };
}

/** Lines over time, symptom intervals as shaded areas, and the limit when the data come within reach of it. */
export function seriesToOption(model: SeriesModel, theme: ChartTheme, look: SeriesLook = {}): EChartsCoreOption {
  const { stacked = false, timeAxis = true, legendLeft = 44 } = look;
  const grid = { left: PLOT_LEFT, right: PLOT_RIGHT, top: PLOT_TOP, bottom: timeAxis ? 22 : 7 };
  const areas = clippedAreas(model, grid.top, stacked);
  const limit =
    model.limit && (model.limit.always || highest(model) > model.limit.value * 0.5) ? model.limit : undefined;
  const unit = model.lines[0]?.unit ?? "";
  const axis = axisTop(Math.max(limit ? limit.value * 1.02 : -Infinity, highest(model)), lowest(model), unit);
  // The limit's name stands on the side of it where the line does not end.
  const end = model.lines[0]?.values.findLast((value) => value !== null) ?? 0;
  return {
    color: [...theme.series],
    grid,
    legend: {
      show: model.lines.length > 1, // one line is what the chart's title says
      top: 0,
      left: legendLeft,
      itemWidth: 14,
      itemHeight: 8,
      icon: "roundRect",
      textStyle: { color: theme.dim, fontSize: 11 },
      data: model.lines.map((line) => line.label),
    },
    tooltip: {
      trigger: "axis",
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter((points: TooltipPoint[]) => {
        const at = points[0]?.value[0];
        const rows = points.flatMap((p) => {
          const line = model.lines[p.seriesIndex];
          return line ? [html`${marker(p.marker)}${line.label} <b>${formatValue(p.value[1], line.unit)}</b>`] : [];
        });
        return html`${[html`${at === undefined ? "" : model.formatTooltipTime(at)}`, ...rows]}`;
      }),
    },
    xAxis: {
      type: "time",
      min: model.fromMs,
      max: model.toMs,
      splitNumber: 5,
      axisLine: { lineStyle: { color: theme.line } },
      axisTick: { show: timeAxis },
      axisLabel: {
        show: timeAxis,
        color: theme.dim,
        fontSize: 11,
        hideOverlap: true,
        formatter: (ms: number) => model.formatTime(ms),
      },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      name: stacked || unit === "none" || unit === "ratio" ? "" : unit,
      nameTextStyle: { color: theme.dim, fontSize: 11, align: "right", padding: [0, 6, 0, 0] },
      nameGap: 10,
      scale: false,
      splitNumber: 3,
      max: axis?.max,
      interval: axis?.interval,
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        formatter: (value: number) => (unit === "ratio" ? formatShare(value) : formatNumber(value)),
      },
      splitLine: { lineStyle: { color: theme.line, width: 1 } },
    },
    series: [
      ...model.lines.map((line, i) => ({
        name: line.label,
        type: "line",
        showSymbol: false,
        connectNulls: false,
        sampling: "lttb",
        lineStyle: { width: 1.6, type: line.dashed ? "dashed" : i === 0 ? "solid" : i === 1 ? [6, 2] : "solid" },
        emphasis: { disabled: true },
        data: toPoints(model.timesMs, line.values),
        markArea:
          i === 0 && areas.length > 0
            ? {
                silent: true,
                itemStyle: { color: model.intervalsAs === "ribbon" ? theme.bad : theme.shade },
                label: { color: theme.bad, fontSize: 11, fontWeight: 700, position: "insideTopLeft" },
                data: areas,
              }
            : undefined,
        markLine: i === 0 ? markLine(limit, model, { end, top: axis?.max ?? end }, theme) : undefined,
      })),
      ...bandSeries(model, theme),
    ],
  };
}
