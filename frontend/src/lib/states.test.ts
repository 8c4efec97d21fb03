import { describe, expect, it } from "vitest";
import { STATES } from "@/testing/catalogue";
import {
  endedWithoutSuccess,
  find,
  isOver,
  isStateName,
  labelOf,
  namesWhere,
  needsAttention,
  outcomeOf,
  sentenceOf,
  unfinished,
} from "./states";

const { remedy, incident } = STATES;

describe("a state", () => {
  it("has label, sentence and outcome from its table", () => {
    expect(labelOf(remedy, "not_confirmed")).toBe("Not confirmed");
    expect(sentenceOf(remedy, "rejected", "The remedy")).toBe("The remedy was rejected.");
    expect([outcomeOf(remedy, "confirmed"), isOver(remedy, "confirmed"), isOver(remedy, "verifying")]).toEqual([
      "good",
      true,
      false,
    ]);
  });

  it("goes by its name, neutral and unfinished, when the table lacks it", () => {
    expect(labelOf(remedy, "quarantined")).toBe("quarantined");
    expect(sentenceOf(remedy, "quarantined", "It")).toBe("It is in the state quarantined.");
    expect([outcomeOf(remedy, "quarantined"), isOver(remedy, "quarantined")]).toEqual(["neutral", false]);
    expect([find(remedy, "quarantined"), find(remedy, undefined), labelOf([], "running")]).toEqual([
      undefined,
      undefined,
      "running",
    ]);
  });

  it("ends well, badly or without a result", () => {
    const ends = ["confirmed", "failed", "undone", "running"].map((name) => endedWithoutSuccess(remedy, name));
    expect(ends).toEqual([false, true, true, false]);
  });
});

it("sets of states follow from the table", () => {
  expect(unfinished(incident)).toEqual(["open", "acknowledged", "suppressed", "reopened"]);
  expect(namesWhere(incident, needsAttention)).toEqual(["open", "reopened"]);
});

it("a name in a link is one word", () => {
  expect(["not_confirmed", "", "a b", "a-b", 7, undefined].map(isStateName)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
