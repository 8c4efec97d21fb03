import { describe, expect, it } from "vitest";
import type { PlannedMask } from "@/lib/api/types";
import { chainDiff, diffText } from "./chainDiff";
import { rangeText } from "./EffectTable";
import { gainText } from "./planText";

const mask = (position: number, name: string, more: Partial<PlannedMask> = {}): PlannedMask => ({
  position,
  mask: name,
  length_bits: 96,
  flows: 10,
  packets_60s: 100,
  score: 9600,
  hyper: false,
  moved: false,
  ...more,
});
const chain = (before: PlannedMask[], after: PlannedMask[]) => ({
  queries_before: 3,
  queries_after: 1,
  before,
  after,
  removed: [],
});

describe("a chain before and after", () => {
  it("shows the chain that comes in its order, then what leaves", () => {
    const changes = chainDiff(
      chain(
        [mask(0, "a"), mask(1, "b"), mask(2, "c"), mask(3, "d")],
        [mask(0, "h", { hyper: true }), mask(1, "c"), mask(2, "a"), mask(3, "d")],
      ),
    );
    expect(
      changes.map(({ kind, mask: { mask: name }, before, after }) => `${name} ${kind} ${before} ${after}`),
    ).toEqual(["h hyper null 0", "c up 2 1", "a down 0 2", "d same 3 3", "b removed 1 null"]);
    expect(diffText(changes)).toBe("1 added, 1 moved up, 1 moved down, 1 removed");
  });

  it("distinguishes equal masks of several tables", () => {
    const changes = chainDiff(chain([mask(0, "a"), mask(1, "a")], [mask(0, "a"), mask(1, "a")]));
    expect(changes.map((change) => change.kind)).toEqual(["same", "same"]);
    expect(diffText(changes)).toBe("no changes");
  });
});

it.each([
  [0.384, 0.27, "bandwidth +38%, latency −27%"],
  [null, 0.05, "latency −5.0%"],
  [-0.02, -0.03, "bandwidth −2.0%, latency +3.0%"],
  [null, null, "gain unknown"],
])("a gain of %s and %s in words", (bandwidth_gain, latency_gain, text) => {
  expect(gainText({ bandwidth_gain, latency_gain })).toBe(text);
});

describe("the range of what is expected", () => {
  const none = { q_l: null, q_r: null, bandwidth_gbps: null, latency_us: null };
  const expected = { before: none, after: none, bandwidth_gain: null, latency_gain: null };

  it("goes from the least to the most, whichever end is the better one", () => {
    const found = {
      ...expected,
      low: { ...none, q_l: 4.2, bandwidth_gbps: 71 },
      high: { ...none, q_l: 1.5, bandwidth_gbps: 88 },
    };
    expect(rangeText(found, "q_l")).toBe("1.5 to 4.2");
    expect(rangeText(found, "bandwidth_gbps")).toBe("71 to 88");
    expect(rangeText(found, "latency_us")).toBe("");
  });

  it("is absent from plans that have none", () => {
    expect(rangeText({ ...expected, low: null, high: null }, "q_l")).toBe("");
  });
});
