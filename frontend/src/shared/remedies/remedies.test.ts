import { describe, expect, it } from "vitest";
import type { Remedy, RemedyAction, RemedyState } from "@/lib/api/types";
import { STATES } from "@/testing/catalogue";
import { initialValues, rangeText, toParams, validate } from "./order/params";
import { operand, paramsText } from "./paramsText";
import { isChangedOnHost, steps } from "./steps";

const action: RemedyAction = {
  action: "tune-revalidator",
  title: "Tune",
  description: "",
  scope: "host",
  at_least_one: ["max_idle_ms", "flow_limit"],
  risk: "low",
  risk_text: "",
  needs_approval: false,
  undo: "",
  reversible: true,
  operations: "",
  privileges: "",
  symptoms: [],
  disturbs: null,
  params: [
    {
      name: "max_idle_ms",
      label: "max-idle",
      type: "integer",
      unit: "ms",
      minimum: 500,
      maximum: 3_600_000,
      max_length: null,
      pattern: null,
      required: false,
      meaning: "",
    },
    {
      name: "flow_limit",
      label: "Flow limit",
      type: "integer",
      unit: "flows",
      minimum: 1000,
      maximum: 1_000_000,
      max_length: null,
      pattern: null,
      required: false,
      meaning: "",
    },
  ],
  change: {
    signal: "in_force",
    label: "Active",
    unit: "none",
    expected: "= 1",
    within_s: 30,
    for_s: 0,
    text: "The agent has read the setting back.",
  },
  cures: [
    {
      symptom: "S1",
      signal: "reoffload_ratio",
      label: "",
      unit: "ratio",
      expected: "< 0.05",
      within_s: 180,
      for_s: 20,
      text: "",
    },
  ],
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
    expect(paramsText({ flow_limit: 200_000, pci: "0000:3b:00.0" }, undefined)).toBe(
      "flow limit 200,000 · pci 0000:3b:00.0",
    );
    expect([operand(null), operand("10000"), operand({ a: 1 })]).toEqual(["not set", "10000", '{"a":1}']);
  });
});

const CHANGE = { label: "Cordoned" } as unknown as NonNullable<Remedy["change"]>;
const EFFECT = { label: "Re-offload ratio" } as unknown as NonNullable<Remedy["effect"]>;
const COMMANDS = [{ operation: "apply", state: "sent" }] as unknown as Remedy["commands"];
const FACTS = {
  requested: { change: null, effect: null, commands: [] },
  sent: { change: null, effect: null, commands: COMMANDS },
  applied: { change: CHANGE, effect: EFFECT, commands: COMMANDS },
  changed: { change: CHANGE, effect: null, commands: COMMANDS },
};

describe("the progress of a remedy", () => {
  it.each([
    ["pending", "requested", "◉Waiting for approval ○Running ○Verifying ○Confirmed"],
    ["rejected", "requested", "✕Rejected ○Running ○Verifying ○Confirmed"],
    ["expired", "requested", "✕Expired ○Running ○Verifying ○Confirmed"],
    ["approved", "requested", "◉Requested ○Running ○Verifying ○Confirmed"],
    ["running", "sent", "✓Requested ◉Running ○Verifying ○Confirmed"],
    ["refused", "sent", "✓Requested ✕Refused ○Verifying ○Confirmed"],
    ["expired", "sent", "✓Requested ✕Expired ○Verifying ○Confirmed"],
    ["verifying", "applied", "✓Requested ✓Running ◉Verifying ○Confirmed"],
    ["confirmed", "applied", "✓Requested ✓Running ✓Verifying ✓Confirmed"],
    ["not_confirmed", "applied", "✓Requested ✓Running ✓Verifying ✕Not confirmed"],
    ["verifying", "changed", "✓Requested ✓Running ◉Verifying ○Change confirmed"],
    ["change_confirmed", "changed", "✓Requested ✓Running ✓Verifying ✓Change confirmed"],
    ["not_confirmed", "changed", "✓Requested ✓Running ✓Verifying ✕Not confirmed"],
    ["undone", "applied", "✓Requested ✓Running ✓Verifying ✓Undone"],
    ["quarantined", "requested", "◉Requested ○Running ○Verifying ○Confirmed"],
  ] as const)("%s after it was %s", (state, facts, expected) => {
    const signs = { done: "✓", current: "◉", todo: "○", bad: "✕" };
    const remedy = { ...FACTS[facts], state: state as RemedyState };
    expect(
      steps(STATES.remedy, remedy)
        .map((step) => signs[step.state] + step.label)
        .join(" "),
    ).toBe(expected);
  });

  it("has changed the host from when it was applied until it is undone", () => {
    const changed = (state: RemedyState, facts: keyof typeof FACTS) => isChangedOnHost({ ...FACTS[facts], state });
    expect([changed("running", "sent"), changed("verifying", "applied"), changed("undone", "applied")]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
