import { describe, expect, it, vi } from "vitest";
import { picksOf } from "./picks";
import { PLOT_TOP } from "./toOption";

const onOpen = vi.fn();
const { pickAt, pickable } = picksOf(
  {
    fromMs: 0,
    toMs: 10_000,
    intervals: [
      { symptom: "S1", fromMs: 1000, toMs: 4000, target: "i1" },
      { symptom: "S6", fromMs: 3000, toMs: null, target: "i6" },
      { symptom: "S4", fromMs: 500, toMs: 900 },
      { symptom: "S2", fromMs: -9000, toMs: -1000, target: "i2" },
      { symptom: "S1", fromMs: 9000, toMs: 9010, target: "i9" },
    ],
  },
  onOpen,
);
const opened = (ms: number, y = PLOT_TOP + 2) => {
  onOpen.mockClear();
  pickAt(ms, y)?.onPick();
  return onOpen.mock.calls[0]?.[0] as string | undefined;
};

describe("a click on a chart's band of symptoms", () => {
  it("opens the incident that lies there, the upper one where two overlap", () => {
    expect([opened(2000), opened(3500), opened(8000)]).toEqual(["i1", "i6", "i6"]);
  });

  it("hits a band that is shorter than the pointer is exact", () => {
    expect(opened(9050)).toBe("i9");
  });

  it("does nothing below the band, between bands and on a symptom without an incident", () => {
    expect([opened(2000, PLOT_TOP + 30), opened(100), opened(700)]).toEqual([undefined, undefined, undefined]);
  });
});

it("is in the menu, the newest incident of each symptom in sight", () => {
  expect(pickable.map(({ label }) => label)).toEqual(["Open the incident of S1", "Open the incident of S6"]);
  onOpen.mockClear();
  pickable[0]?.onPick();
  expect(onOpen).toHaveBeenCalledWith("i9");
});
