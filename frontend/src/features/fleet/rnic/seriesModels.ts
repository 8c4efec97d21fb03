import type { Interval, SeriesModel } from "@/charts/series/model";
import type { FindingInterval, RnicPerformance, Series, WallValue } from "@/lib/api/types";
import { formatNumber } from "@/lib/format";

export interface ChartSpec {
  key: string;
  title: string;
  fields: readonly { name: string; dashed?: boolean; scale?: number; unit?: string; label?: string }[];
  /** Drawn as a line when the data come near its limit. */
  wall?: string;
}

export const CHARTS: readonly ChartSpec[] = [
  { key: "throughput", title: "Throughput", fields: [{ name: "tx_gbps" }, { name: "rx_gbps" }] },
  {
    key: "flows",
    title: "Flows",
    fields: [{ name: "flows_offloaded" }, { name: "flows_software" }],
    wall: "offloaded_flows",
  },
  { key: "q", title: "Mask lookups per packet (Q)", fields: [{ name: "q_egress" }, { name: "q_ingress" }] },
  {
    key: "insertions",
    title: "Insertions and re-offloads",
    fields: [{ name: "flow_insertions_per_s" }, { name: "reoffloads_per_s" }],
    wall: "flow_insertions",
  },
  {
    key: "gap",
    title: "Counter gap vs. max-idle",
    fields: [
      { name: "counter_gap_p95_s" },
      { name: "counter_gap_max_s" },
      { name: "max_idle_ms", dashed: true, scale: 0.001, unit: "s", label: "max-idle" },
    ],
  },
  { key: "ratio", title: "Re-offload ratio", fields: [{ name: "reoffload_ratio" }] },
];

interface Formats {
  axis: (ms: number) => string;
  tooltip: (ms: number) => string;
}

export function toIntervals(findings: readonly FindingInterval[]): Interval[] {
  return findings.map((f) => ({
    symptom: f.symptom,
    fromMs: Date.parse(f.from),
    toMs: f.to === null ? null : Date.parse(f.to),
    ...(f.incident_id === null ? {} : { target: f.incident_id }),
  }));
}

/** One chart's model from the answer of the API; fields that the API does not know are left out. */
export function toModel(
  spec: ChartSpec,
  series: Series,
  findings: readonly FindingInterval[],
  walls: readonly WallValue[],
  formats: Formats,
): SeriesModel {
  const known = new Map(series.fields.map((field) => [field.name, field]));
  const wall = walls.find((w) => w.wall === spec.wall);
  return {
    timesMs: series.times.map((time) => Date.parse(time)),
    fromMs: Date.parse(series.from),
    toMs: Date.parse(series.to),
    intervals: toIntervals(findings),
    intervalsAs: "ribbon",
    limit: wall?.limit ? { value: wall.limit, label: `${wall.label}: ${formatNumber(wall.limit)}` } : undefined,
    formatTime: formats.axis,
    formatTooltipTime: formats.tooltip,
    lines: spec.fields.flatMap(({ name, dashed, scale, unit, label }) => {
      const field = known.get(name);
      if (!field) return [];
      const values = series.values[name] ?? [];
      return [
        {
          name,
          label: label ?? field.label,
          unit: unit ?? field.unit,
          dashed,
          values: scale === undefined ? values : values.map((value) => (value === null ? null : value * scale)),
        },
      ];
    }),
  };
}

/** A sample takes the expected value of the nearest point of the profile's path, if that is at most this far away. */
const EXPECTED_REACH_MS = 90_000;

/** The throughput with what the RNIC's profile expects it to send, as far as the profile's path reaches. */
export function withExpected(model: SeriesModel, performance: Pick<RnicPerformance, "path"> | undefined): SeriesModel {
  const path = (performance?.path ?? []).map(({ at, expected_gbps }) => ({
    atMs: Date.parse(at),
    value: expected_gbps,
  }));
  if (path.length === 0) return model;
  let next = 0;
  const values = model.timesMs.map((ms) => {
    const distance = (i: number) => Math.abs((path[i]?.atMs ?? Infinity) - ms);
    while (next + 1 < path.length && distance(next + 1) <= distance(next)) next++;
    return distance(next) <= EXPECTED_REACH_MS ? (path[next]?.value ?? null) : null;
  });
  if (values.every((value) => value === null)) return model;
  const line = { name: "expected_gbps", label: "Expected to send", unit: "Gbit/s", values, dashed: true };
  return { ...model, lines: [...model.lines, line] };
}
