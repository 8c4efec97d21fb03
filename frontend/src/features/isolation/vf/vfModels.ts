import type { Interval, SeriesLine, SeriesModel } from "@/charts/series/model";
import type { VfHistory } from "@/lib/api/types";
import { rateText } from "../text";
import type { Episode } from "./episodes";

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
  /** Names of what is shaded. */
  role: (role: Episode["role"]) => string;
}

type Point = VfHistory["series"][number];

/** Gbit/s as soon as a rate reaches one. */
const GIGA = 1000;

/** Where promises were broken: from episodes, and before the oldest that is listed from the steps of the series. */
export function brokenIntervals(history: VfHistory, episodes: readonly Episode[], role: Formats["role"]): Interval[] {
  const shown = episodes.map((episode) => ({
    symptom: role(episode.role),
    fromMs: episode.fromMs,
    toMs: episode.toMs,
  }));
  if (history.broken_total <= history.broken.length) return shown;
  const oldest = Math.min(...shown.map((each) => each.fromMs), Infinity);
  const earlier = history.series.flatMap((point) => {
    const at = Date.parse(point.at);
    if (at >= oldest || (point.broken_s === 0 && point.aggressor_s === 0)) return [];
    return [
      {
        symptom: role(point.broken_s > 0 ? "victim" : "aggressor"),
        fromMs: at,
        toMs: Math.min(at + history.step_s * 1000, oldest),
      },
    ];
  });
  return [...earlier, ...shown];
}

/** A constant as a dashed line over the whole chart. */
function level(points: readonly Point[], name: string, label: string, unit: string, value: number): SeriesLine {
  return { name, label, unit, dashed: true, values: points.map(() => value) };
}

interface Charts {
  rates: SeriesModel;
  delay: SeriesModel;
  share: SeriesModel;
}

/** What the VF sent and received against its envelope, how long packets took, and its share of the RNIC. */
export function toCharts(
  history: VfHistory,
  episodes: readonly Episode[],
  { from, to }: { from: string; to: string },
  formats: Formats,
): Charts {
  const { series: points, slo } = history;
  const top = Math.max(slo?.max_mbps ?? 0, ...points.map((point) => Math.max(point.tx_mbps ?? 0, point.rx_mbps ?? 0)));
  const [unit, divisor] = top >= GIGA ? ["Gbit/s", GIGA] : ["Mbit/s", 1];
  const line = (name: keyof Point, label: string, lineUnit: string, by = 1): SeriesLine => ({
    name,
    label,
    unit: lineUnit,
    values: points.map((point) => (typeof point[name] === "number" ? point[name] / by : null)),
  });
  const common = {
    timesMs: points.map((point) => Date.parse(point.at)),
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
    intervals: brokenIntervals(history, episodes, formats.role),
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
  };
  return {
    rates: {
      ...common,
      lines: [
        line("tx_mbps", "sends", unit, divisor),
        line("rx_mbps", "receives", unit, divisor),
        ...(slo && slo.min_mbps > 0 ? [level(points, "min", "guaranteed", unit, slo.min_mbps / divisor)] : []),
      ],
      limit: slo ? { value: slo.max_mbps / divisor, label: `at most ${rateText(slo.max_mbps)}` } : undefined,
    },
    delay: {
      ...common,
      lines: [
        line("delay_p50_us", "p50", "µs"),
        line("delay_p99_us", "p99", "µs"),
        ...(slo?.p99_us ? [level(points, "promised", "promised p99", "µs", slo.p99_us)] : []),
      ],
    },
    share: {
      ...common,
      lines: [line("share", "takes", "ratio"), { ...line("fair_share", "fair share", "ratio"), dashed: true }],
      limit: undefined,
    },
  };
}

/** Whether a chart has anything to draw. */
export function hasValues(model: SeriesModel): boolean {
  return model.lines.some((line) => !line.dashed && line.values.some((value) => value !== null));
}
