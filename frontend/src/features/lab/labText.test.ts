import { describe, expect, it } from "vitest";
import {
  asSentence,
  causeTitle,
  countText,
  coverageText,
  effortText,
  differences,
  progressText,
  rangeText,
  resultText,
  savedText,
  tookText,
  usedShare,
  valueText,
  varying,
} from "./labText";
import { deviceFor, initialDraft, problemsOf, requestOf, safeText, variedFor } from "./startForm";
import { metricOf, sensitivityModel } from "./sensitivity";
import { diagramOf } from "./diagram";
import { parseLabFilters, parseNewCampaignSearch } from "./search";
import { CAMPAIGN, CAUSE, DEVICE } from "@/testing/lab";

describe("counts of any size", () => {
  it.each([
    ["1", "1"],
    ["1953125", "1,953,125"],
    ["2441406250", "2.4 × 10⁹"],
    ["7450580596923828125", "7.4 × 10¹⁸"],
    [null, "–"],
    ["many", "–"],
  ])("%s is written as %s", (digits, text) => expect(countText(digits)).toBe(text));

  it.each([
    ["5062500", 412, "12,287×"],
    ["7450580596923828125", 1000, "7.4 × 10¹⁵×"],
    ["500", 412, null],
    ["500", 0, null],
    [null, 412, null],
  ])("%s against %d tests saves %s", (digits, tests, text) => expect(savedText(digits, tests)).toBe(text));
});

const FOUR = ["masks", "flows", "verb", "jumbo"];

it.each([
  [
    "5062500",
    412,
    FOUR,
    "Brute force over the 4 varied parameters (up to five values of each) would take 5,062,500 tests",
    "12,287×",
  ],
  ["60", 40, FOUR, "Brute force over the 4 varied parameters (up to five values of each) would take 60 tests", null],
  [
    "5",
    71,
    ["masks"],
    "Brute force over masks (up to five values) would take 5 tests; the other tests locate limits and confirm causes",
    null,
  ],
  ["100", 0, null, "Brute force over the varied parameters (up to five values of each) would take 100 tests", null],
])("compares %s tests of brute force with %d over %j", (bruteForce, tests, varied, text, saved) =>
  expect(effortText(bruteForce, tests, varied)).toEqual({ text, saved }),
);

describe("how far a campaign is", () => {
  const progress = { ...CAMPAIGN.progress, tests: 250, seconds: 125, bad: 3, most_seconds_left: 375 };

  it("is a bound, since the search usually ends earlier", () => {
    expect(progressText({ ...CAMPAIGN, progress })).toBe(
      "250 of at most 1,000 tests · 3 with a symptom · at most 6 min 15 s left",
    );
  });

  it("counts tests or time, whichever is used more", () => {
    expect(usedShare({ ...CAMPAIGN, progress })).toBe(0.25);
    expect(usedShare({ ...CAMPAIGN, progress: { ...progress, seconds: 7200 } })).toBe(0.5);
    expect(usedShare({ ...CAMPAIGN, progress: { ...progress, tests: 4000 } })).toBe(1);
  });
});

it.each([
  [{ causes: 2, complete: true, message: null }, "2 causes found"],
  [{ causes: 1, complete: false, message: "Stopped." }, "1 cause found; incomplete"],
  [{ causes: 0, complete: true, message: null }, "Nothing wrong found"],
  [{ causes: null, complete: null, message: "The device failed." }, "The device failed."],
])("a result in one line: %o", (campaign, text) => expect(resultText(campaign)).toBe(text));

it.each([
  [
    { complete: true, strength: 3, causes: [], varied: FOUR },
    "Nothing wrong was found in every combination of any 3 of the 4 varied parameters.",
  ],
  [
    { complete: true, strength: 4, causes: [], varied: FOUR },
    "Nothing wrong was found in every combination of the 4 varied parameters.",
  ],
  [
    { complete: true, strength: 1, causes: [CAUSE], varied: FOUR },
    "Nothing else was found at any level of any varied parameter, one at a time.",
  ],
  [
    { complete: true, strength: 1, causes: [CAUSE], varied: ["masks"] },
    "Nothing else was found at any level of masks, the only parameter that varied.",
  ],
  [{ complete: false, strength: 0, causes: [], varied: FOUR }, "The search ended before any combination was covered."],
])("says what was covered, and no more: %o", (report, text) => expect(coverageText(report)).toBe(text));

it("values read as a person writes them", () => {
  expect([true, 7200, ["a", "b"], null, "send"].map(valueText)).toEqual(["on", "7,200", "a → b", "–", "send"]);
});

it("ranges have their unit, choices their values", () => {
  expect(DEVICE.parameters.map(rangeText)).toEqual(["1 to 64 masks", "1 to 16,000 flows", "send, read", "on, off"]);
});

it("a cause is named by its symptom, or by what gets worse", () => {
  expect(causeTitle(CAUSE)).toBe("S6");
  const effect = { bw_gbps: { good: 98, bad: 49, change: -0.5 } };
  expect(causeTitle({ symptom: null, metric: "bw_gbps", effect })).toBe("bw_gbps −50%");
  expect(causeTitle({ symptom: null, metric: "bw_gbps", effect: {} })).toBe("bw_gbps gets worse");
});

it("the reproducer and its neighbour differ in what matters only", () => {
  expect(differences(CAUSE)).toEqual([{ name: "egress_masks", failing: "24", passing: "23" }]);
});

it("a list of tests shows the parameters that are not the same in all of them", () => {
  expect(varying([{ config: { a: 1, b: 2 } }, { config: { a: 1, b: 3 } }, { config: {} }])).toEqual(["b"]);
});

describe("the end of a campaign", () => {
  it.each([
    ["budget reached", "Budget reached."],
    ["Stopped by operator.", "Stopped by operator."],
    [" no healthy configuration found ", "No healthy configuration found."],
  ])("%j is the sentence %j", (reason, sentence) => {
    expect(asSentence(reason)).toBe(sentence);
  });

  it("took as long as its report says, and a quick one less than a second", () => {
    const progress = { ...CAMPAIGN.progress, seconds: 3 };
    expect(tookText({ report: CAMPAIGN.report, progress })).toBe("1 min 30 s");
    expect(tookText({ report: null, progress })).toBe("3 s");
    expect(tookText({ report: null, progress: { ...progress, seconds: 0.4 } })).toBe("less than a second");
  });
});

describe("the start form", () => {
  it("chooses the parameters in which a cause shows, or all", () => {
    expect([...variedFor(DEVICE, "C6")]).toEqual(["egress_masks", "verb"]);
    expect(variedFor(DEVICE, undefined).size).toBe(4);
    expect(variedFor(DEVICE, "C7").size).toBe(4);
  });

  it("takes the device of the link, the only one, or the one that shows the cause", () => {
    const other = { ...DEVICE, name: "other", parameters: DEVICE.parameters.slice(1, 2) };
    expect(deviceFor([other, DEVICE], { device: "other" })?.name).toBe("other");
    expect(deviceFor([DEVICE], {})?.name).toBe("dut");
    expect(deviceFor([other, DEVICE], {})).toBeUndefined();
    expect(deviceFor([other, DEVICE], { cause: "C6" })?.name).toBe("dut");
    expect(deviceFor([{ ...DEVICE, available: false }], { cause: "C6" })).toBeUndefined();
  });

  it("refuses what the API would refuse", () => {
    const draft = initialDraft([DEVICE], {});
    expect(problemsOf(draft)).toEqual({});
    const wrong = { ...draft, device: null, budget: 5, minutes: "", seed: 1.5, varied: new Set<string>() };
    expect(Object.keys(problemsOf(wrong))).toEqual(["device", "budget", "minutes", "seed", "varied"]);
  });

  it("names the varied parameters only when they are not all", () => {
    const draft = initialDraft([DEVICE], { cause: "C6" });
    const asked = requestOf(draft, DEVICE, "i1");
    expect(asked).toMatchObject({ parameters: ["egress_masks", "verb"], incident_id: "i1", max_time_s: 14_400 });
    expect(requestOf({ ...draft, varied: variedFor(DEVICE, undefined) }, DEVICE, undefined).parameters).toBeNull();
  });

  it("shows the safe range of what the catalogue knows", () => {
    const dimension = { id: "masks", label: "", component: "", unit: "masks", kind: "integer", adaptors: [], why: "" };
    const catalogue = { dimensions: [{ ...dimension, safe: { low: 1, high: 100 } }], causes: [] };
    expect(safeText(catalogue, "masks")).toBe("1 to 100 masks");
    expect(safeText(catalogue, null)).toBeNull();
    expect(safeText(undefined, "masks")).toBeNull();
  });
});

describe("sensitivity curves", () => {
  const curve = CAUSE.sensitivity[0];
  if (!curve) throw new Error("the test's cause has a curve");

  it("show the cause's metric, or the one that changes most", () => {
    expect(metricOf(CAUSE, curve)).toBe("bw_gbps");
    const effect = { lat: { good: 1, bad: 1.1, change: 0.1 }, bw_gbps: { good: 98, bad: 50, change: -0.5 } };
    const both = { ...curve, points: [{ value: 1, bad: false, metrics: { lat: 1, bw_gbps: 98 } }] };
    expect(metricOf({ metric: null, effect }, both)).toBe("bw_gbps");
    expect(metricOf({ metric: "lat", effect }, both)).toBe("lat");
    expect(metricOf({ metric: null, effect }, { ...curve, points: [{ value: 1, bad: true, metrics: {} }] })).toBeNull();
  });

  it("are sorted along a number, and have its threshold", () => {
    const model = sensitivityModel(CAUSE, curve, { egress_masks: "masks" }, null);
    expect(model.points.map(({ x }) => x)).toEqual([1, 23, 24, 64]);
    expect(model.threshold).toEqual({ lastGood: 23, firstBad: 24 });
    const choices = { ...curve, kind: "choice", points: [{ value: "send", bad: true, metrics: {} }] };
    expect(sensitivityModel(CAUSE, choices, {}, null)).toMatchObject({ numeric: false, threshold: null, metric: null });
  });
});

describe("the causal diagram", () => {
  it("has each parameter, component and symptom once", () => {
    const second = {
      ...CAUSE,
      id: 2,
      conditions: [{ ...CAUSE.conditions[0], parameter: "verb" }] as typeof CAUSE.conditions,
    };
    const { nodes, edges, rows } = diagramOf([CAUSE, second], DEVICE);
    expect(nodes.map(({ label, column }) => [column, label])).toEqual([
      [2, "S6"],
      [1, "Mask table"],
      [0, "egress_masks"],
      [1, "Traffic"],
      [0, "verb"],
    ]);
    expect(edges).toHaveLength(4);
    expect(rows).toBe(2);
  });

  it("takes a boundary apart, and does without a device", () => {
    const boundary = {
      ...CAUSE.conditions[0],
      parameter: null,
      expression: "qps*size",
    } as (typeof CAUSE.conditions)[number];
    const { nodes } = diagramOf([{ ...CAUSE, conditions: [boundary], components: ["NIC"] }], undefined);
    expect(nodes.map(({ label }) => label)).toEqual(["S6", "NIC", "qps", "size"]);
    expect(diagramOf([], undefined)).toEqual({ nodes: [], edges: [], rows: 0 });
  });
});

it("links choose what exists only", () => {
  const id = "00000000-0000-4000-8000-000000000001";
  expect(parseNewCampaignSearch({ cause: "C6", incident: id, device: "dut", colour: "blue" })).toEqual({
    cause: "C6",
    incident: id,
    device: "dut",
  });
  expect(parseNewCampaignSearch({ cause: "<b>", incident: "x", device: "" })).toEqual({});
  expect(parseLabFilters({ device: "dut" })).toEqual({ device: "dut" });
});
