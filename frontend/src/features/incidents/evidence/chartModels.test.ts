import { describe, expect, it } from "vitest";
import type { Evidence, Series } from "@/lib/api/types";
import { boundOf, chartsOf, isItself, spanOf, toEvidenceModel } from "./chartModels";

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
const SIGNALS = [
  { signal: "reoffload_ratio", label: "Re-offload ratio", unit: "ratio", fields: ["reoffload_ratio"] },
  {
    signal: "counter_ages",
    label: "Gap beside max-idle",
    unit: "ratio",
    fields: ["counter_gap_p95_s", "max_idle_ms"],
  },
  { signal: "oops", label: "Oopses", unit: "none", fields: [] },
];
const CATALOGUE = { signals: SIGNALS };
const ONSET = "2026-11-21T02:00:00Z";
const NOW = Date.parse("2026-11-21T09:00:00Z");
const formats = { axis: String, tooltip: String };

describe("the charts of the evidence", () => {
  it("are drawn for signals that a field shows, each once", () => {
    const charts = chartsOf(
      [
        evidence(),
        evidence(),
        evidence({ signal: "oops" }),
        evidence({ signal: "unheard_of" }),
        evidence({ signal: "counter_ages" }),
      ],
      CATALOGUE,
    );
    expect(charts.map((chart) => chart.fields)).toEqual([["reoffload_ratio"], ["counter_gap_p95_s", "max_idle_ms"]]);
  });

  it("are left out for evidence that has no interval", () => {
    expect(chartsOf([evidence({ from: null })], CATALOGUE)).toEqual([]);
    expect(spanOf([], ONSET, NOW)).toBeNull();
  });

  it("share one span from 15 minutes before the onset to after the evidence, which never lies in the future", () => {
    const charts = chartsOf([evidence()], CATALOGUE);
    expect(spanOf(charts, ONSET, NOW)).toEqual({ from: "2026-11-21T01:45:00.000Z", to: "2026-11-21T03:17:00.000Z" });
    expect(spanOf(charts, ONSET, Date.parse("2026-11-21T03:13:00Z"))?.to).toBe("2026-11-21T03:13:00.000Z");
  });

  it("do not ask for weeks when the symptom began long ago", () => {
    const span = spanOf(chartsOf([evidence()], CATALOGUE), "2026-11-01T00:00:00Z", NOW);
    expect(span?.from).toBe("2026-11-20T03:17:00.000Z");
  });

  it("draw the same fields once, for all signals that are derived from them", () => {
    const signals = ["bandwidth_share", "latency_share"].map((signal) => ({
      signal,
      label: signal,
      unit: "ratio",
      fields: ["q_egress", "q_ingress"],
    }));
    const charts = chartsOf(
      signals.map(({ signal }) => evidence({ signal })),
      { signals },
    );
    expect(charts.map((chart) => chart.evidence.map(({ signal }) => signal))).toEqual([
      ["bandwidth_share", "latency_share"],
    ]);
    expect(charts.map(isItself)).toEqual([false]);
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

  it("shade the very interval, and draw the expected line only where the field is the signal itself", () => {
    const series: Series = {
      from: "2026-11-21T03:00:00Z",
      to: "2026-11-21T03:17:00Z",
      step_s: 60,
      times: ["2026-11-21T03:00:00Z"],
      fields: [
        { name: "reoffload_ratio", label: "Re-offload ratio", unit: "ratio" },
        { name: "counter_gap_p95_s", label: "Gap", unit: "s" },
        { name: "max_idle_ms", label: "max-idle", unit: "ms" },
      ],
      values: { reoffload_ratio: [0.4], counter_gap_p95_s: [8], max_idle_ms: [10_000] },
    };
    const [ratio, share] = chartsOf([evidence(), evidence({ signal: "counter_ages", expected: "< 0.8" })], CATALOGUE);
    if (!ratio || !share) throw new Error("Both signals have fields.");
    const model = toEvidenceModel(ratio, series, formats);
    expect(model.intervals).toEqual([
      { symptom: "evidence", fromMs: Date.parse("2026-11-21T03:10:00Z"), toMs: Date.parse("2026-11-21T03:12:00Z") },
    ]);
    expect(model.limit).toEqual({ value: 0.05, label: "expected < 5%", always: true });
    expect(toEvidenceModel(share, series, formats).limit).toBeUndefined();
    expect(toEvidenceModel(share, series, formats).lines.map((line) => [line.name, line.unit, line.values])).toEqual([
      ["counter_gap_p95_s", "s", [8]],
      ["max_idle_ms", "s", [10]],
    ]);
  });
});
