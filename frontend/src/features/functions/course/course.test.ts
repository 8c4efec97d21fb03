import { describe, expect, it } from "vitest";
import type { FunctionCourse } from "@/lib/api/types";
import { courseModel } from "./courseModel";
import { breakText, modelText, trendText } from "./courseText";

const past = (at: string, loss: number | null) => ({
  at,
  flows: 1000,
  packet_bytes: 1518,
  mtbr: 0,
  measured_kpps: 800,
  offered_kpps: 900,
  predicted_kpps: 810,
  predicted_loss: loss,
  loss,
  error: -0.01,
});
const COURSE: FunctionCourse = {
  name: "ids-0",
  function: "ids",
  version: 3,
  model_mape: 3.24,
  recent_mape: null,
  sla_drop: 0.2,
  trend: null,
  breaks_in_min: null,
  past: [past("2026-01-01T00:00:00Z", null), past("2026-01-01T00:05:00Z", 0.1)],
  coming: [],
};
const ahead = { in_min: 10, flows: 1200, packet_bytes: 1518, mtbr: 0, predicted_kpps: 700, loss: 0.15 };
const trend = { flows_factor: 1, packet_bytes_factor: 1, mtbr_change: 0 };

describe("the words of a course", () => {
  it.each([
    [null, "Its traffic has no trend."],
    [{ ...trend, flows_factor: 1.27 }, "Per hour, flows grow by 27%."],
    [{ ...trend, flows_factor: 4 }, "Per hour, flows grow 4-fold."],
    [
      { ...trend, packet_bytes_factor: 0.5, mtbr_change: -30 },
      "Per hour, packets shrink by 50%, matches fall by 30 per MB.",
    ],
    [{ ...trend, flows_factor: 1.001 }, "Its traffic has no trend."],
  ])("name the trend %j", (given, text) => {
    expect(trendText({ ...COURSE, trend: given })).toBe(text);
  });

  it("say when the SLA breaks, that it is broken, that it holds, or that nothing is known", () => {
    expect(breakText({ ...COURSE, breaks_in_min: 30, coming: [ahead] })).toContain("breaks in about 30 minutes");
    expect(breakText({ ...COURSE, past: [past("2026-01-01T00:00:00Z", 0.3)] })).toBe("Its SLA is broken now.");
    expect(breakText({ ...COURSE, coming: [ahead] })).toContain("holds for the next hour");
    expect(breakText(COURSE)).toContain("nothing is extrapolated");
    expect(breakText({ ...COURSE, sla_drop: null })).toBeUndefined();
  });

  it("say how right the model was, next to its training", () => {
    expect(modelText({ ...COURSE, recent_mape: 5.04 })).toBe(
      "Model version 3 missed the measurement by 5.0% on average; in training, rows left out were missed by 3.2%.",
    );
    expect(modelText(COURSE)).toContain("was not put to the test");
    expect(modelText({ ...COURSE, version: null })).toContain("No model is active");
  });
});

describe("the chart of a course", () => {
  const formats = { axis: String, tooltip: String };

  it("goes on from the last measurement with what is predicted, below what may be lost", () => {
    const model = courseModel({ ...COURSE, coming: [ahead] }, formats);
    const now = Date.parse("2026-01-01T00:05:00Z");
    expect(model.timesMs).toEqual([now - 300_000, now, now + 600_000]);
    expect(model.lines.map(({ values }) => values)).toEqual([
      [null, 0.1, null],
      [null, 0.1, 0.15],
    ]);
    expect(model.mark).toEqual({ atMs: now, label: "now" });
    expect(model.limit).toEqual({ value: 0.2, label: "may lose 20%", always: true });
  });

  it("has neither a mark nor a limit where nothing comes and nothing is promised", () => {
    const model = courseModel({ ...COURSE, sla_drop: null, past: [] }, formats);
    expect([model.mark, model.limit, model.timesMs.length]).toEqual([undefined, undefined, 0]);
  });
});
