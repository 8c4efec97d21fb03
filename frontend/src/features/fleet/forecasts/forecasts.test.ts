import { describe, expect, it } from "vitest";
import type { Forecast, ForecastModel, PastForecasts } from "@/lib/api/types";
import { activeModel, modelNotice } from "./activeModel";
import { fanOf } from "./fanModel";
import { parseForecastFilters } from "./filters";
import { drawnFirst, fanModel, pastModel, recordText, targetsOf } from "./models";
import { chanceText, confidenceText, declineText, intervalText, reachText, verdictText } from "./times";

const formats = { axis: String, tooltip: String };
const ahead = [1, 2, 3, 4, 5].map((i) => [30, 30 + i, 30 + 2 * i]);
const forecast: Forecast = {
  host: "host01",
  pci: "0000:3b:00.0",
  rack: null,
  model: "CX-6",
  at: "2026-01-01T00:00:00Z",
  stale: false,
  forecaster: "abc",
  cold_start: false,
  confidence: "high",
  policy_violated: false,
  q_r_basis: "peers",
  horizons_s: [60, 300, 900, 1800, 3600],
  quantiles: [0.05, 0.5, 0.95],
  walls: [
    {
      wall: "egress_masks",
      label: "Egress masks",
      unit: "masks",
      now: 30,
      limit: 43,
      ahead,
      earliest_in_s: 300,
      likely_in_s: 900,
      latest_in_s: null,
      chance: 0.7,
    },
  ],
  others: { bandwidth_gbps: { label: "Bandwidth", unit: "Gbit/s", now: 100, ahead } },
  headroom: [],
  decline: null,
};

describe("times to walls", () => {
  it.each([
    [{ earliest_in_s: null, likely_in_s: null, latest_in_s: null }, "not expected within the hour", ""],
    [{ earliest_in_s: 0, likely_in_s: 0, latest_in_s: 0 }, "at limit now", ""],
    [{ earliest_in_s: 1200, likely_in_s: null, latest_in_s: null }, "not expected within the hour", ""],
    [{ earliest_in_s: 0, likely_in_s: 300, latest_in_s: null }, "in 5 min", "0 s or later"],
    [{ earliest_in_s: 110, likely_in_s: 429, latest_in_s: 742 }, "in 7 min", "1 min 50 s to 12 min"],
    [{ earliest_in_s: 300, likely_in_s: 900, latest_in_s: 1800 }, "in 15 min", "5 min to 30 min"],
  ])("reads %j as %s", (times, reach, interval) => {
    expect(reachText(times)).toBe(reach);
    expect(intervalText(times)).toBe(interval);
  });
});

describe("chances", () => {
  it.each([
    [null, "–"],
    [0, "< 1%"],
    [0.009, "< 1%"],
    [0.01, "1%"],
    [0.5, "50%"],
    [0.99, "99%"],
    [0.9901, "> 99%"],
    [1, "100%"],
  ])("of %j read %s", (chance, text) => {
    expect(chanceText(chance)).toBe(text);
  });
});

describe("confidence", () => {
  it.each([
    ["high", false, "high confidence: trained on this fleet"],
    ["medium", false, "medium confidence: base model, trained on simulated fleets"],
    ["low", true, "low confidence: no model yet, or less than 10 minutes of history"],
    ["low", false, "low confidence: the fleet has changed since the model was trained"],
  ] as const)("that is %s (cold start: %j) says why", (confidence, cold_start, text) => {
    expect(confidenceText({ confidence, cold_start })).toBe(text);
  });
});

describe("the active model", () => {
  const model = (id: string, role: string, problem: string | null = null) => ({ id, role, problem }) as ForecastModel;
  const own = model("a", "champion");
  const damaged = model("a", "champion", "its hash differs");
  const base = model("b", "base");

  it.each([
    [[own, base], "own", null],
    [[base], "base", "Base model: medium confidence"],
    [[damaged, base], "base", "Base model: medium confidence"],
    [[damaged], "none", "No model: low confidence"],
    [[model("b", "base", "its hash differs")], "none", "No model: low confidence"],
    [[model("c", "challenger")], "none", "No model: low confidence"],
  ])("of %j is %s, announced as %s", (models, kind, title) => {
    const active = activeModel(models);
    expect(active.kind).toBe(kind);
    expect(modelNotice(active)?.title ?? null).toBe(title);
  });

  it("is announced with what to do", () => {
    expect(modelNotice(activeModel([base]))?.text).toContain("wallwatch forecast train");
    expect(modelNotice(activeModel([damaged, base]))?.text).toContain("Model a cannot be used");
  });
});

describe("declines", () => {
  it("show their time only where it is known", () => {
    expect(declineText(0.12, 900)).toBe("declines 12% (5% in 15 min)");
    expect(declineText(0.01, null)).toBe("declines 5% or more, time unknown");
  });
});

describe("a challenger", () => {
  it("says how it compares with the champion, and for how long", () => {
    expect(verdictText({ champion: "a", verdict: "better", hours: 31, loss: 1, champion_loss: 2 })).toBe(
      "better than the champion: it may be promoted (31 h)",
    );
    expect(verdictText({ champion: "a", verdict: "not_enough", hours: 3, loss: 1, champion_loss: 2 })).toBe(
      "less than a day of data alongside the champion (3 h)",
    );
  });
});

describe("the fan", () => {
  it("begins with the present in each line and has the wall's limit", () => {
    const [wall, bandwidth] = targetsOf(forecast);
    if (!wall || !bandwidth) throw new Error("two targets were expected");
    const model = fanModel(forecast, wall, formats);
    expect(model.lines.map((line) => line.values[0])).toEqual([30, 30, 30]);
    expect(model.lines[0]?.values).toEqual([30, 31, 32, 33, 34, 35]);
    expect(model.limit?.value).toBe(43);
    expect(model.toMs - model.fromMs).toBe(3_600_000);
    expect(fanModel(forecast, bandwidth, formats).limit).toBeUndefined();
  });
});

describe("the small fan of a wall", () => {
  const [wall] = forecast.walls;
  if (!wall) throw new Error("a wall was expected");

  it("stands to the limit as the values do, and marks where they meet", () => {
    const fan = fanOf(wall, forecast, 120, 47.3);
    expect(fan?.likely).toBe("0.0,17.3 2.0,16.3 10.0,15.3 30.0,14.3 60.0,13.3 120.0,12.3");
    expect(fan?.limit).toBeCloseTo(4.3, 1);
    expect(fan?.meets).toEqual({ x: 30, y: fan?.limit });
    expect(fan?.text).toBe("Egress masks, limit 43 masks, in 15 min: now 30, in an hour 35 (30 to 40)");
  });

  it("is cut where it leaves the picture, and is not drawn where nothing is known", () => {
    const wild = { ...wall, ahead: wall.ahead.map(() => [30, 40, 40_000]) };
    expect(fanOf(wild, forecast, 120, 16)?.limit).toBeCloseTo(16 - 10, 1);
    expect(fanOf({ ...wall, now: null }, forecast, 120, 40)).toBeNull();
    expect(fanOf({ ...wall, ahead: wall.ahead.map(() => [null, null, null]) }, forecast, 120, 40)).toBeNull();
  });

  it("comes before the bandwidth where a wall is likely to be reached", () => {
    expect(drawnFirst(forecast)).toBe("egress_masks");
    expect(drawnFirst({ ...forecast, walls: [{ ...wall, likely_in_s: null }] })).toBe("bandwidth_gbps");
  });
});

describe("past forecasts", () => {
  it("stand at the time that they spoke of, and marked where a policy was violated", () => {
    const past: PastForecasts = {
      target: "q_l",
      label: "Q",
      unit: "queries",
      horizon_s: 900,
      items: [15, 16, 17].map((minute) => ({
        at: `2026-01-01T00:${minute - 15}0:00Z`,
        for_at: `2026-01-01T00:${minute}:00Z`,
        low: 1,
        likely: 2,
        high: 3,
        actual: null,
        cold_start: false,
        policy_violated: minute < 17,
        forecaster: null,
      })),
    };
    const model = pastModel(past, formats);
    expect(model.timesMs[0]).toBe(Date.parse("2026-01-01T00:15:00Z"));
    expect(model.lines[0]?.values).toEqual([null, null, null]);
    expect(model.intervals).toHaveLength(1);
  });
});

describe("the record", () => {
  it("counts only forecasts of which both sides are known", () => {
    const item = {
      at: "",
      for_at: "",
      low: 9,
      likely: 10,
      high: 11,
      actual: 10.5 as number | null,
      cold_start: false,
      policy_violated: false,
      forecaster: null,
    };
    const past: PastForecasts = {
      target: "q_l",
      label: "Q",
      unit: "queries",
      horizon_s: 900,
      items: [item, { ...item, actual: 12.5 }, { ...item, actual: null }, { ...item, low: null }],
    };
    expect(recordText(past)).toBe(
      "90% interval coverage: 50% of 2 forecasts; the median error of the likely value is 20%.",
    );
    expect(recordText({ ...past, items: [] })).toBe("No actual values are known yet.");
    expect(recordText({ ...past, items: [{ ...item, low: 0, likely: 0, actual: 0 }] })).not.toContain("typically");
  });
});

describe("filters", () => {
  it("are what the URL says, and nothing unknown", () => {
    expect(parseForecastFilters({ within: "15", sort: "decline", declining: "true" })).toEqual({
      within: 15,
      sort: "decline",
      declining: true,
    });
    expect(parseForecastFilters({ wall: "egress_masks", rack: 7, model: "" })).toEqual({
      wall: "egress_masks",
      rack: "7",
    });
    expect(parseForecastFilters({ within: "60", sort: "best", declining: "no" })).toEqual({});
  });
});
