import { describe, expect, it } from "vitest";
import type { ChartTheme } from "../chartTheme";
import type { SurfaceModel } from "./model";
import { clamped, surfaceToOption } from "./toOption";

const theme: ChartTheme = {
  text: "#111",
  dim: "#222",
  line: "#333",
  panel: "#444",
  shade: "#555",
  bad: "#666",
  accent: "#777",
  series: ["#888", "#999", "#aaa", "#bbb"],
};

const model: SurfaceModel = {
  quantity: "bandwidth",
  qL: [0, 50, 100],
  qR: [0, 50, 100],
  values: [
    [158, 90, 40],
    [100, 60, 30],
    [50, 35, 27],
  ],
  points: [{ label: "host01", qL: 10, qR: 5 }],
  path: [],
};

interface Drawn {
  series: { data: { value: number[] }[] }[];
  visualMap: { min: number; max: number; formatter: (from: number, to: number) => string };
  xAxis: { min?: number; max?: number }[];
  tooltip: { formatter: (item: unknown) => string };
}

const drawn = (change: Partial<SurfaceModel> = {}) =>
  surfaceToOption({ ...model, ...change }, theme) as unknown as Drawn;

describe("a surface", () => {
  it("has one cell for each pair of lookup counts, from the least to the most", () => {
    expect(drawn().series[0]?.data).toHaveLength(9);
    expect(drawn().visualMap).toMatchObject({ min: 27, max: 158 });
  });

  it("has axes for points that coincide with the cells", () => {
    expect(drawn().xAxis[1]).toMatchObject({ min: -25, max: 125 });
  });

  it("puts RNICs where they are, and those beyond its edge at the edge", () => {
    expect(drawn().series[1]?.data[0]?.value).toEqual([10, 5]);
    expect(clamped({ label: "deep", qL: 140, qR: 7 }, model)).toEqual([100, 7]);
  });

  it("shows a cell's prediction, and an RNIC's real position", () => {
    const { formatter } = drawn().tooltip;
    expect(formatter({ data: { cell: [50, 0, 90] } })).toContain("90 Gbit/s");
    expect(formatter({ data: { point: { label: "deep", qL: 140, qR: 7, note: "sends 20 Gbit/s" } } })).toContain(
      "Q local 140",
    );
  });

  it("names its bands without false precision", () => {
    expect(drawn().visualMap.formatter(29.444, 65.33556)).toBe("29.4 to 65.3");
  });

  it("marks the end of a path", () => {
    const path = [
      { label: "earlier", qL: 1, qR: 1 },
      { label: "now", qL: 30, qR: 2 },
    ];
    expect(drawn({ path }).series[3]?.data[0]?.value).toEqual([30, 2]);
    expect(drawn().series[3]?.data).toEqual([]);
  });

  it("without values stays drawable", () => {
    expect(drawn({ qL: [], qR: [], values: [] }).visualMap).toMatchObject({ min: 0, max: 1 });
  });
});
