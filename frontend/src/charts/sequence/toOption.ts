import type { EChartsCoreOption } from "echarts/core";
import { formatMs } from "@/lib/time/shortTimes";
import type { ChartTheme } from "../chartTheme";
import { html, tooltipFormatter } from "../tooltip";
import type { SequenceModel, Spot } from "./model";

/** PSNs are 24 bits; a connection that wraps goes on counting here, and shows the PSN on the wire. */
const PSN_MODULUS = 1 << 24;

interface TooltipItem {
  seriesName: string;
  value: Spot;
}

export function onTheWire(psn: number): number {
  return ((psn % PSN_MODULUS) + PSN_MODULUS) % PSN_MODULUS;
}

/** The lowest PSN, where notifications stand: they name none. */
function floorOf({ points, resent, losses }: SequenceModel): number {
  const psns = [...points, ...losses, ...resent.map(({ at }) => at)].map(([, psn]) => psn);
  return psns.reduce((low, psn) => Math.min(low, psn), psns[0] ?? 0);
}

/** Packets as dots, losses, NACKs and resends by shape and colour, notifications along the bottom; a brush zooms into a time. */
export function sequenceToOption(model: SequenceModel, theme: ChartTheme): EChartsCoreOption {
  const floor = floorOf(model);
  const marks = (
    name: string,
    symbol: string,
    symbolSize: number,
    color: string | undefined,
    data: readonly Spot[],
  ) => ({
    type: "scatter",
    name,
    symbol,
    symbolSize,
    itemStyle: { color, borderColor: theme.panel, borderWidth: 1 },
    data,
    z: 4,
  });
  const resent = (kind: string) => model.resent.filter((each) => each.kind === kind).map(({ at }) => at);
  return {
    grid: { left: 76, right: 18, top: 52, bottom: 74 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: theme.text, fontSize: 12 } },
    tooltip: {
      trigger: "item",
      confine: true,
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      formatter: tooltipFormatter(({ seriesName, value: [ms, psn] }: TooltipItem) =>
        seriesName === "CNP"
          ? html`<b>CNP</b><br />at ${formatMs(ms)}`
          : html`<b>${seriesName}</b><br />PSN ${onTheWire(psn).toLocaleString("en")} at ${formatMs(ms)}`,
      ),
    },
    dataZoom: [
      { type: "inside", xAxisIndex: 0, filterMode: "none" },
      {
        type: "slider",
        xAxisIndex: 0,
        filterMode: "none",
        height: 20,
        bottom: 8,
        borderColor: theme.line,
        textStyle: { color: theme.dim, fontSize: 11 },
        labelFormatter: (ms: number) => formatMs(ms),
      },
    ],
    xAxis: {
      type: "value",
      min: "dataMin",
      max: "dataMax",
      axisLine: { lineStyle: { color: theme.line } },
      axisLabel: { color: theme.dim, fontSize: 11, hideOverlap: true, formatter: (ms: number) => formatMs(ms) },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: "dataMin",
      max: "dataMax",
      name: "PSN",
      nameTextStyle: { color: theme.dim, fontSize: 12 },
      axisLabel: {
        color: theme.dim,
        fontSize: 11,
        formatter: (psn: number) => (Number.isInteger(psn) ? onTheWire(psn).toLocaleString("en") : ""),
      },
      splitLine: { lineStyle: { color: theme.line, opacity: 0.5 } },
    },
    series: [
      {
        type: "scatter",
        name: "sent",
        symbolSize: model.points.length > 500 ? 3 : 6,
        itemStyle: { color: theme.series[0] },
        data: model.points,
        large: model.points.length > 2000,
      },
      marks("lost", "path://M2,0L6,4L10,0L12,2L8,6L12,10L10,12L6,8L2,12L0,10L4,6L0,2Z", 12, theme.bad, model.losses),
      marks("NACK", "triangle", 11, theme.series[1], model.nacks),
      marks("resent after NACK", "diamond", 12, theme.series[2], resent("nack")),
      marks("resent by timeout", "rect", 10, theme.series[3], resent("timeout")),
      marks(
        "CNP",
        "arrow",
        9,
        theme.accent,
        model.cnps.map((ms) => [ms, floor] as const),
      ),
    ],
  };
}
