import { describe, expect, it } from "vitest";
import { compareSymptoms, isBehaviour, isSymptom, symptomWord } from "./symptoms";

describe("what a finding may be", () => {
  it.each(["S1", "S8", "B1", "B8", "unexplained", "silent", "isolation"])("takes %s", (id) => {
    expect(isSymptom(id)).toBe(true);
  });

  it.each(["S9", "B9", "B0", "B10", "C1", "b1", ""])("refuses %s", (id) => {
    expect(isSymptom(id)).toBe(false);
  });

  it("tells behaviours of transport engines from symptoms", () => {
    expect(["S1", "B1", "silent"].map(isBehaviour)).toEqual([false, true, false]);
    expect(symptomWord("B4")).toBe("B4");
  });

  it("orders symptoms by number, behaviours after them, then the others", () => {
    const mixed = ["isolation", "B2", "S8", "silent", "B1", "unexplained", "S1"];
    expect([...mixed].sort(compareSymptoms)).toEqual(["S1", "S8", "B1", "B2", "silent", "unexplained", "isolation"]);
  });
});
