import { describe, expect, it } from "vitest";
import type { Agent, Incident, RemedyAction, Series } from "@/lib/api/types";
import { connectedText } from "./agents/AgentsPage";
import { parseAgentFilters } from "./agents/filters";
import { evidenceLine } from "./incidents/evidenceText";
import { toTicket } from "./incidents/ticket";
import { operand, paramsText } from "./remedies/paramsText";
import { initialValues, rangeText, toParams, validate } from "./remedies/params";
import { isUnderWay, steps } from "./remedies/progress";
import { meanQueries } from "./rnic/ChainPanel";
import { parseRange, refreshEvery, toInterval } from "./rnic/range";
import { CHARTS, toModel } from "./rnic/seriesModels";
import { barWidth } from "./rnic/WallBars";

describe("the time range in the URL", () => {
  it.each([
    [{}, {}],
    [{ range: "6h" }, { range: "6h" }],
    [{ range: "5y" }, {}],
    [{ from: "2026-11-21T03:00:00Z", to: "2026-11-21T04:00:00Z" }, { from: "2026-11-21T03:00:00.000Z", to: "2026-11-21T04:00:00.000Z" }],
    [{ from: "2026-11-21T05:00:00Z", to: "2026-11-21T04:00:00Z", range: "1h" }, { range: "1h" }],
    [{ from: "yesterday", to: "today" }, {}],
  ])("reads %j as %j", (search, expected) => {
    expect(parseRange(search)).toEqual(expected);
  });

  it("ends a named range now and asks for it again; a fixed one stands still", () => {
    expect(toInterval({ range: "5m" }, 1_000_000_000)).toMatchObject({ live: true, seconds: 300, to: new Date(1_000_000_000).toISOString() });
    expect(toInterval({ from: "2026-11-21T03:00:00Z", to: "2026-11-21T04:00:00Z" }, 0)).toMatchObject({ live: false, seconds: 3600 });
    expect(refreshEvery(300)).toBeLessThan(refreshEvery(86_400));
  });
});

describe("agents", () => {
  it.each([
    [{}, {}],
    [{ host: " host03 ", connection: "lost" }, { host: "host03", connection: "lost" }],
    [{ host: " ", connection: "perhaps", sort: "host" }, {}],
    [{ sort: "certificate" }, { sort: "certificate" }],
  ])("filters in the URL: %j is %j", (search, expected) => {
    expect(parseAgentFilters(search)).toEqual(expected);
  });

  it("are counted as far as they are shown", () => {
    const agent = { connected: true } as Agent;
    expect(connectedText([agent, { ...agent, connected: false }], false)).toBe("1 of 2 agents connected");
    expect(connectedText([agent, agent], true)).toBe("2 of the first 2 agents connected");
  });
});

const action: RemedyAction = {
  action: "tune-revalidator", title: "Tune", description: "", scope: "host", at_least_one: ["max_idle_ms", "flow_limit"], risk: "low", risk_text: "", needs_approval: false, undo: "", reversible: true, operations: "", privileges: "", symptoms: [], disturbs: null,
  params: [
    { name: "max_idle_ms", label: "max-idle", type: "integer", unit: "ms", minimum: 500, maximum: 3_600_000, max_length: null, pattern: null, required: false, meaning: "" },
    { name: "flow_limit", label: "Flow limit", type: "integer", unit: "flows", minimum: 1000, maximum: 1_000_000, max_length: null, pattern: null, required: false, meaning: "" },
  ],
  verification: { signal: "reoffload_ratio", label: "", unit: "ratio", expected: "< 0.05", within_s: 180, for_s: 20, text: "" },
};

describe("the parameters of a remedy", () => {
  it.each([
    [{ max_idle_ms: 500 }, {}],
    [{ max_idle_ms: 499 }, { max_idle_ms: "max-idle must be at least 500" }],
    [{ max_idle_ms: 3_600_001 }, { max_idle_ms: "max-idle must be at most 3.6M" }],
    [{ max_idle_ms: 600.5 }, { max_idle_ms: "max-idle must be a whole number" }],
    [{ max_idle_ms: "", flow_limit: 5000 }, {}],
    [{ max_idle_ms: "", flow_limit: "" }, { _: "Give at least one of: max-idle, Flow limit" }],
  ])("%j gives %j", (values, errors) => {
    expect(validate(action, values)).toEqual(errors);
  });

  it("start from the suggestion, and an empty one is not sent", () => {
    const values = initialValues(action, { max_idle_ms: 60_000 }, "0000:3b:00.0");
    expect(values).toEqual({ max_idle_ms: 60_000, flow_limit: "" });
    expect(toParams(values)).toEqual({ max_idle_ms: 60_000 });
  });

  it("are shown with their range and unit", () => {
    expect(action.params.map(rangeText)).toEqual(["500 to 3,600,000 ms", "1,000 to 1,000,000 flows"]);
    expect(paramsText({ max_idle_ms: 60000, reason: "" }, action)).toBe("max-idle 60,000 ms");
    expect(paramsText({ flow_limit: 200_000, pci: "0000:3b:00.0" }, undefined)).toBe("flow limit 200,000 · pci 0000:3b:00.0");
    expect([operand(null), operand("10000"), operand({ a: 1 })]).toEqual(["not set", "10000", '{"a":1}']);
  });
});

describe("the progress of a remedy", () => {
  it.each([
    ["proposed", "current,todo,todo,todo"],
    ["rejected", "bad,todo,todo,todo"],
    ["pending", "current,todo,todo,todo"],
    ["dispatched", "done,current,todo,todo"],
    ["applied", "done,done,done,current"],
    ["verified", "done,done,done,done"],
    ["not_verified", "done,done,done,bad"],
    ["refused", "done,bad,todo,todo"],
  ] as const)("%s stands at %s", (state, expected) => {
    expect(steps(state).map((step) => step.state).join()).toBe(expected);
  });

  it("goes on until there is a verdict", () => {
    expect([isUnderWay("applied"), isUnderWay("verified"), isUnderWay("planned")]).toEqual([true, false, false]);
  });
});

describe("walls as bars", () => {
  it("reach the limit's mark at the limit and end at the bar's end", () => {
    expect(barWidth(7200, 7200)).toBeCloseTo(80);
    expect(barWidth(99_999, 7200)).toBe(100);
  });

  it("are not drawn for what is not known", () => {
    expect([barWidth(null, 7200), barWidth(5, null), barWidth(5, 0)]).toEqual([null, null, null]);
  });
});

describe("mean queries of a chain", () => {
  const mask = (position: number, packets: number | null) => ({ position, packets, mask: "m", match: null, flows: 1, length_bits: 1 });

  it("weights positions by packets; the head costs nothing", () => {
    expect(meanQueries([mask(0, 100)])).toBe(0);
    expect(meanQueries([mask(0, 50), mask(10, 50)])).toBe(5);
  });

  it("is not known when no packet was seen", () => {
    expect(meanQueries([mask(3, null), mask(4, 0)])).toBeNull();
  });
});

describe("the series of the RNIC page", () => {
  const series: Series = {
    from: "2026-11-21T03:00:00Z", to: "2026-11-21T03:01:00Z", step_s: 30, times: ["2026-11-21T03:00:00Z", "2026-11-21T03:00:30Z"],
    fields: [{ name: "counter_gap_p95_s", label: "Counter gap", unit: "s" }, { name: "max_idle_ms", label: "max-idle", unit: "ms" }],
    values: { counter_gap_p95_s: [8, null], max_idle_ms: [10_000, null] },
  };
  const gap = CHARTS.find((chart) => chart.key === "gap");
  if (!gap) throw new Error("The chart of the counter gap is gone.");
  const formats = { axis: String, tooltip: String };

  it("puts max-idle in seconds beside the gap, leaves gaps as gaps, and leaves unknown fields out", () => {
    const model = toModel(gap, series, [], [], formats);
    expect(model.lines.map((line) => [line.name, line.unit, line.values])).toEqual([
      ["counter_gap_p95_s", "s", [8, null]],
      ["max_idle_ms", "s", [10, null]],
    ]);
  });
});

describe("the ticket text", () => {
  const evidence = { signal: "reoffload_ratio", label: "Re-offload ratio", unit: "ratio", from: null, to: null, value: 0.41, expected: "< 0.05", text: "" };
  const incident = {
    id: "1", host: "host03", pci: "0000:3b:00.0", rack: "r2", symptom: "S1", symptoms: ["S1", "S5"], subject: "host03 0000:3b:00.0", hosts: ["host03"], model: "CX-6", fw_ver: "22.36.1010", over_since: null, explanation: "", state: "open", severity: "critical", blast_radius: "flows", title: "Flows come back", summary: "41 % of flows.", opened_at: "2026-11-21T03:00:00Z", active: true,
    evidence: [evidence], hypotheses: [{ cause: "C5", title: "Stale counters", prior: 0.15, posterior: 0.7, evidence_for: [], evidence_against: [], next_test: "Raise max-idle" }], remedies: [{ action: "tune-revalidator", params: { max_idle_ms: 60000 }, why: "keeps live flows" }],
  } as unknown as Incident;

  it("holds what, where, since when in UTC, why, and what to do", () => {
    const text = toTicket(incident, "https://wallwatch.example.org/incidents/1");
    for (const part of ["[critical] S1, S5 on host03 0000:3b:00.0", "rack r2, CX-6, firmware 22.36.1010", "2026-11-21 03:00:00 UTC", "C5 Stale counters (70 %); next test: Raise max-idle", "Re-offload ratio 41 %, expected < 5 %", "tune-revalidator", "https://wallwatch.example.org/incidents/1"])
      expect(text).toContain(part);
  });

  it("says that a value is missing rather than zero", () => {
    expect(evidenceLine({ ...evidence, value: null })).toBe("Re-offload ratio –, expected < 5 %");
  });
});
