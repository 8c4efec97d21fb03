import { describe, expect, it } from "vitest";
import type { Evidence, SignalSeries } from "@/lib/api/types";
import { changesText, markTimes } from "./changeMarks";
import { boundOf, drawable, spanOf, toEvidenceModel, windowOf } from "./chartModels";

const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  signal: "reoffload_ratio",
  label: "Re-offload ratio",
  unit: "ratio",
  from: "2026-11-21T03:10:00Z",
  to: "2026-11-21T03:12:00Z",
  value: 0.4,
  expected: "< 0.05",
  text: "",
  ...changes,
});
const ONSET = "2026-11-21T02:00:00Z";
const NOW = Date.parse("2026-11-21T09:00:00Z");
const formats = { axis: String, tooltip: String };

describe("the charts of the evidence", () => {
  it("are drawn for each signal once, and not for evidence without an interval", () => {
    const found = drawable([
      evidence(),
      evidence(),
      evidence({ signal: "oops" }),
      evidence({ signal: "x", from: null }),
    ]);
    expect(found.map(({ signal }) => signal)).toEqual(["reoffload_ratio", "oops"]);
    expect(spanOf([], ONSET, NOW)).toBeNull();
  });

  it("share one span from 15 minutes before the onset to after the evidence, which never lies in the future", () => {
    expect(spanOf([evidence()], ONSET, NOW)).toEqual({
      from: "2026-11-21T01:45:00.000Z",
      to: "2026-11-21T03:17:00.000Z",
    });
    expect(spanOf([evidence()], ONSET, Date.parse("2026-11-21T03:13:00Z"))?.to).toBe("2026-11-21T03:13:00.000Z");
  });

  it("show how it began when the symptom began long ago", () => {
    expect(spanOf([evidence()], "2026-11-01T00:00:00Z", NOW)).toEqual({
      from: "2026-10-31T23:45:00.000Z",
      to: "2026-11-01T02:45:00.000Z",
    });
  });

  it("say over which time a value is", () => {
    expect(windowOf({ statistic: "mean", window_s: 20 })).toBe("mean of 20 s");
    expect(windowOf({ statistic: "last", window_s: 15 })).toBe("newest of 15 s");
  });

  it.each([
    ["< 0.05", 0.05],
    ["< 5%", 0.05],
    ["at most 7,200 flows", 7200],
    ["< 10 s", 10],
    [">= 1e3", 1000],
    ["between 2 and 5", null],
    ["none", null],
    [null, null],
  ])("read the bound %s as %s", (expected, value) => {
    expect(boundOf(expected)).toBe(value);
  });

  it("name the changes that are marked, the most frequent first", () => {
    const kinds = ["remedy", "container", "container", "remedy", "container"] as const;
    expect(changesText(kinds.map((kind) => ({ kind })))).toBe("3 container changes, 2 remedies");
    expect(changesText([{ kind: "remedy" }])).toBe("1 remedy");
  });

  it("are one line where they are close to one another", () => {
    const at = (second: number) => ({ at: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString() });
    const span = { from: at(0).at, to: at(400).at };
    const lines = markTimes([at(101), at(100), at(105), at(109), at(110), at(300)], span);
    expect(lines.map((time) => (time - Date.parse(span.from)) / 1000)).toEqual([100, 110, 300]);
  });

  it("shade the very interval, and draw the bound of the very signal", () => {
    const series: SignalSeries = {
      from: "2026-11-21T03:00:00Z",
      to: "2026-11-21T03:17:00Z",
      step_s: 60,
      times: ["2026-11-21T03:00:00Z"],
      fields: [
        { name: "reoffload_ratio", label: "Re-offload ratio", unit: "ratio", window_s: 30, statistic: "mean" },
        { name: "oops", label: "Oopses", unit: "events", window_s: 30, statistic: "count" },
      ],
      values: { reoffload_ratio: [0.4], oops: [null] },
    };
    const model = toEvidenceModel(evidence(), series, formats);
    expect(model?.intervals).toEqual([
      { symptom: "evidence", fromMs: Date.parse("2026-11-21T03:10:00Z"), toMs: Date.parse("2026-11-21T03:12:00Z") },
    ]);
    expect(model?.limit).toEqual({ value: 0.05, label: "expected < 5%", always: true });
    expect(model?.lines.map((line) => [line.name, line.unit, line.values])).toEqual([
      ["reoffload_ratio", "ratio", [0.4]],
    ]);
    expect(toEvidenceModel(evidence({ signal: "oops" }), series, formats)).toBeNull();
    expect(toEvidenceModel(evidence({ signal: "unheard_of" }), series, formats)).toBeNull();
  });
});
