import { describe, expect, it } from "vitest";
import type { ChartTheme } from "./chartTheme";
import type { MaskModel } from "./masks/model";
import { masksToOption, wrapMatch } from "./masks/toOption";
import { toPoints } from "./series/gaps";
import type { SeriesModel } from "./series/model";
import { axisTop, evenInterval, roundUp } from "./series/axis";
import { seriesToOption } from "./series/toOption";

const theme: ChartTheme = {
  text: "#111111",
  dim: "#222222",
  line: "#333333",
  panel: "#444444",
  shade: "#555555",
  bad: "#666666",
  accent: "#777777",
  series: ["#a00000", "#00a000"],
};

function model(changes: Partial<SeriesModel> = {}): SeriesModel {
  return {
    timesMs: [1000, 2000, 3000],
    lines: [{ name: "flows_offloaded", label: "Offloaded flows", unit: "flows", values: [10, null, 30] }],
    intervals: [],
    fromMs: 1000,
    toMs: 3000,
    formatTime: String,
    formatTooltipTime: String,
    ...changes,
  };
}

interface Drawn {
  data: [number, number | null][];
  connectNulls: boolean;
  markArea?: { data: [{ name: string; xAxis: number }, { xAxis: number }][] };
  markLine?: { data: { yAxis: number }[] };
}

interface Option {
  series: Drawn[];
  xAxis: { min: number; max: number };
  yAxis: { name: string; max?: number; interval?: number };
  tooltip: { formatter: (points: unknown) => string };
}

const draw = (changes?: Partial<SeriesModel>) => seriesToOption(model(changes), theme) as unknown as Option;

describe("a series chart", () => {
  it("leaves a gap where nothing was read, never a zero", () => {
    const values = [1, 2, 3, null, null, null, null, null, 9, 10];
    const [line] = draw({
      timesMs: values.map((_, i) => i * 1000),
      lines: [{ name: "x", label: "X", unit: "", values }],
    }).series;
    expect(line?.data).toEqual([
      [0, 1],
      [1000, 2],
      [2000, 3],
      [3000, null],
      [8000, 9],
      [9000, 10],
    ]);
    expect(line?.connectNulls).toBe(false);
  });

  it("draws a field that is read at every other step as one line", () => {
    const values = [1, null, 2, null, 3, null, 4];
    expect(
      toPoints(
        values.map((_, i) => i * 1000),
        values,
      ),
    ).toEqual([
      [0, 1],
      [2000, 2],
      [4000, 3],
      [6000, 4],
    ]);
  });

  it("is empty, not zero, for a field that was never read", () => {
    expect(toPoints([0, 1000], [null, null])).toEqual([]);
  });

  it("spans the requested range, whatever the data span", () => {
    expect(draw({ fromMs: 0, toMs: 9000 }).xAxis).toMatchObject({ min: 0, max: 9000 });
  });

  it.each([
    ["one that lies inside", { fromMs: 1500, toMs: 2500 }, [[1500, 2500]]],
    ["one that still lasts", { fromMs: 1500, toMs: null }, [[1500, 3000]]],
    ["one that began before the range", { fromMs: -500, toMs: 2500 }, [[1000, 2500]]],
    ["one that is over before the range", { fromMs: 0, toMs: 900 }, undefined],
    ["one that begins after the range", { fromMs: 3500, toMs: null }, undefined],
  ])("shades %s", (_, interval, expected) => {
    const [line] = draw({ intervals: [{ symptom: "S1", ...interval }] }).series;
    expect(line?.markArea?.data.map(([from, to]) => [from.xAxis, to.xAxis])).toEqual(expected);
  });

  it("draws the limit only when the data come within reach of it", () => {
    const limit = { value: 50, label: "wall" };
    const near = draw({ limit });
    expect(near.series[0]?.markLine?.data).toEqual([{ yAxis: 50 }]);
    expect(near.yAxis.max).toBeGreaterThan(50);
    const far = draw({ limit: { value: 500, label: "wall" } });
    expect(far.series[0]?.markLine).toBeUndefined();
    expect(far.yAxis.max).toBe(30);
  });

  it("always draws a bound that was expected, far from the data or not", () => {
    expect(draw({ limit: { value: 500, label: "expected", always: true } }).series[0]?.markLine?.data).toEqual([
      { yAxis: 500 },
    ]);
  });

  it("shows the unit on the axis, and none for a pure number", () => {
    expect(draw().yAxis.name).toBe("flows");
    expect(draw({ lines: [{ name: "reoffload_ratio", label: "Ratio", unit: "ratio", values: [] }] }).yAxis.name).toBe(
      "",
    );
  });

  it("says in the tooltip that a value is missing", () => {
    const text = draw().tooltip.formatter([{ seriesIndex: 0, marker: "", value: [2000, null] }]);
    expect(text).toContain("Offloaded flows <b>–</b>");
  });

  it.each([
    [7344, 8000],
    [8000, 8000],
    [8001, 10_000],
    [1020, 1500],
    [0.41, 0.5],
    [0, 1],
    [Number.NaN, 1],
  ])("rounds the axis of %s up to %s", (value, expected) => {
    expect(roundUp(value)).toBeCloseTo(expected);
  });

  it.each([8000, 1500, 500, 30, 10_000, 6, 0.4])("divides an axis up to %s into equal parts", (max) => {
    const parts = max / evenInterval(max);
    expect(parts).toBeCloseTo(Math.round(parts));
    expect(parts).toBeLessThanOrEqual(5);
  });
});

describe("what stands on a chart of symptoms and changes", () => {
  it("is a thin band on top for each symptom, not a shaded chart", () => {
    const intervals = [{ symptom: "S1", fromMs: 1500, toMs: null }];
    const [line] = draw({ intervals, intervalsAs: "ribbon" }).series as unknown as {
      markArea: { data: [{ y: number }, { y: number }][] };
    }[];
    const [upper, lower] = line?.markArea.data[0] ?? [];
    expect((lower?.y ?? 0) - (upper?.y ?? 0)).toBe(3);
  });

  it("is a line upright for each change in the range", () => {
    const [line] = draw({ events: [500, 1500, 2500, 9999] }).series as unknown as {
      markLine: { data: { xAxis: number }[] };
    }[];
    expect(line?.markLine.data.map((each) => each.xAxis)).toEqual([1500, 2500]);
  });
});

describe("the axis of values", () => {
  it.each([
    [0.97, 0, "ratio", 1],
    [0.15, 0, "ratio", 0.15],
    [1.2, 0, "ratio", 1.5],
    [0, 0, "packets/s", 1],
    [43.7, 0, "Gbit/s", 50],
  ])("up to %s from %s in %s ends at %s", (highest, lowest, unit, max) => {
    expect(axisTop(highest, lowest, unit)?.max).toBeCloseTo(max);
  });

  it("has no labels between zero and one for a count that never moved", () => {
    expect(axisTop(0, 0, "packets/s")).toEqual({ max: 1, interval: 1 });
  });

  it("is left to the library where values are negative or missing", () => {
    expect([axisTop(5, -1, "s"), axisTop(-Infinity, Infinity, "s")]).toEqual([null, null]);
  });
});

const bar = (position: number, packets: number | null) => ({
  position,
  mask: `m${position}`,
  match: "eth(),ipv4(src=<x>)",
  flows: 3,
  packets,
  lengthBits: 64,
});

describe("a mask chain", () => {
  const draw = (chain: MaskModel) =>
    masksToOption(chain, theme) as unknown as {
      xAxis: { data: string[] };
      series: [{ data: (number | null)[]; markLine?: { data: [{ xAxis: number }] } }];
      tooltip: { formatter: (p: unknown) => string };
    };

  it("stands in query order, however the API gave it", () => {
    const option = draw({ bars: [bar(2, 5), bar(0, 1), bar(1, null)], q: 1.2 });
    expect(option.xAxis.data).toEqual(["0", "1", "2"]);
    expect(option.series[0].data).toEqual([1, null, 5]);
    expect(option.series[0].markLine?.data[0].xAxis).toBe(1);
  });

  it("has no line for Q when no packet was seen", () => {
    expect(draw({ bars: [bar(0, null)], q: null }).series[0].markLine).toBeUndefined();
  });

  it("does not let a match inject markup into the tooltip", () => {
    const text = draw({ bars: [bar(0, 1)], q: 0 }).tooltip.formatter([{ dataIndex: 0 }]);
    expect(text).not.toContain("<x>");
  });

  it("breaks a long match after commas and loses nothing", () => {
    const match = Array.from({ length: 30 }, (_, i) => `field${i}(0)`).join(",");
    const wrapped = wrapMatch(match, 40).text;
    expect(wrapped.split("<br/>").length).toBeGreaterThan(5);
    expect(wrapped.replaceAll("<br/>", "")).toBe(match);
  });
});
