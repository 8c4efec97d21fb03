import { describe, expect, it } from "vitest";
import type { Series } from "@/lib/api/types";
import { meanQueries } from "./ChainPanel";
import { CHARTS, toModel } from "./seriesModels";
import { barWidth } from "./WallBars";

describe("walls as bars", () => {
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
