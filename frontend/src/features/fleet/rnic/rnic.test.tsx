import { describe, expect, it } from "vitest";
import type { Series } from "@/lib/api/types";
import { meanQueries } from "./ChainPanel";
import { choicesOf, search } from "./hardware/fields";
import { CHARTS, toModel, withExpected } from "./seriesModels";
import { barWidth } from "./overview/LimitList";
import { placeOf } from "./overview/Ribbon";
import { sparkPath } from "@/lib/sparkline";

describe("limits as bars", () => {
  it("reach the limit's mark at the limit and end at the bar's end", () => {
    expect(barWidth(7200, 7200)).toBeCloseTo(80);
    expect(barWidth(99_999, 7200)).toBe(100);
  });

  it("are not drawn for what is unknown", () => {
    expect([barWidth(null, 7200), barWidth(5, null), barWidth(5, 0)]).toEqual([null, null, null]);
  });
});

describe("mean lookups of a chain", () => {
  const mask = (position: number, packets: number | null) => ({
    position,
    packets,
    mask: "m",
    match: null,
    flows: 1,
    length_bits: 1,
  });

  it("weights positions by packets; the head costs nothing", () => {
    expect(meanQueries([mask(0, 100)])).toBe(0);
    expect(meanQueries([mask(0, 50), mask(10, 50)])).toBe(5);
  });

  it("is unknown when no packet was seen", () => {
    expect(meanQueries([mask(3, null), mask(4, 0)])).toBeNull();
  });
});

describe("the series of the RNIC page", () => {
  const series: Series = {
    from: "2026-11-21T03:00:00Z",
    to: "2026-11-21T03:01:00Z",
    step_s: 30,
    times: ["2026-11-21T03:00:00Z", "2026-11-21T03:00:30Z"],
    fields: [
      { name: "counter_gap_p95_s", label: "Counter gap", unit: "s" },
      { name: "max_idle_ms", label: "max-idle", unit: "ms" },
    ],
    values: { counter_gap_p95_s: [8, null], max_idle_ms: [10_000, null] },
  };
  const gap = CHARTS.find((chart) => chart.key === "gap");
  if (!gap) throw new Error("The chart of the counter gap is gone.");
  const formats = { axis: String, tooltip: String };

  it("puts max-idle in seconds next to the gap, leaves gaps as gaps, and leaves unknown fields out", () => {
    const model = toModel(gap, series, [], [], formats);
    expect(model.lines.map((line) => [line.name, line.unit, line.values])).toEqual([
      ["counter_gap_p95_s", "s", [8, null]],
      ["max_idle_ms", "s", [10, null]],
    ]);
  });
});

describe("a sparkline", () => {
  it("breaks where nothing was read for a while, not where a field is read less often", () => {
    const path = (values: (number | null)[]) => sparkPath(values, null, 100, 20).line;
    expect(path([1, null, 2, null, 1]).match(/M/g)).toHaveLength(1);
    expect(path([1, null, null, null, null, null, 2]).match(/M/g)).toHaveLength(2);
    expect(path([null, null])).toBe("");
  });

  it("shows the limit once the values come near it", () => {
    expect(sparkPath([40, 60], 100, 100, 20).limitY).not.toBeNull();
    expect(sparkPath([4, 6], 100, 100, 20).limitY).toBeNull();
  });
});

describe("the ribbon above the charts", () => {
  it("cuts what began before or still lasts to the range", () => {
    const range = { fromMs: 1000, toMs: 2000 };
    expect(placeOf(0, null, range)).toEqual({ left: 0, width: 100 });
    expect(placeOf(1250, 1500, range)).toEqual({ left: 25, width: 25 });
  });
});

describe("the throughput next to what the profile expects", () => {
  const model = toModel(
    { key: "throughput", title: "Throughput", fields: [] },
    {
      from: "2026-11-21T03:00:00Z",
      to: "2026-11-21T03:10:00Z",
      step_s: 60,
      times: [0, 1, 2, 5].map((minute) => `2026-11-21T03:0${minute}:00Z`),
      fields: [],
      values: {},
    },
    [],
    [],
    { axis: String, tooltip: String },
  );
  const point = (at: string, expected_gbps: number) => ({
    at,
    expected_gbps,
    expected_us: 1,
    measured_gbps: null,
    residual: null,
    q_l: 1,
    q_r: 1,
  });

  it("has the nearest point of the path, and a gap where the path is silent", () => {
    const path = [point("2026-11-21T03:00:10Z", 40), point("2026-11-21T03:01:10Z", 50)];
    expect(withExpected(model, { path }).lines.at(-1)?.values).toEqual([40, 50, 50, null]);
  });

  it("has no such line without a profile", () => {
    expect(withExpected(model, undefined).lines).toEqual([]);
    expect(withExpected(model, { path: [point("2026-11-20T03:00:00Z", 40)] }).lines).toEqual([]);
  });
});

describe("the fields of the hardware", () => {
  const field = (measurement: string, name: string, label: string, kind = "counter") => ({
    measurement,
    name,
    label,
    kind,
    unit: "packets",
    meaning: "",
  });
  const choices = choicesOf([
    field("rnic", "out_of_buffer", "Packets dropped because no receive buffer was posted"),
    field("rnic", "fw_ver_stored", "Stored firmware", "text"),
    field("rnic_vf", "tx", "Sent by a VF"),
    field("ovs_datapath", "flows", "Flows"),
  ]);

  it("are the numbers of measurements whose series an RNIC has", () => {
    expect(choices.map(({ id }) => id)).toEqual(["rnic.out_of_buffer", "ovs_datapath.flows"]);
  });

  it("are found by words of label and name in any order", () => {
    expect(search(choices, "buffer DROPPED out_of").map(({ id }) => id)).toEqual(["rnic.out_of_buffer"]);
    expect(search(choices, "nowhere")).toEqual([]);
  });
});
