import { describe, expect, it } from "vitest";
import type { CauseInfo } from "@/lib/api/types";
import { boundText, templateText } from "./bounds";
import { causesOf } from "./CauseTable";

describe("a definition for reading", () => {
  it.each([
    [{ at_least: 0.1 }, "ratio", "at least 10%"],
    [{ above: 2, below: 9 }, "s", "above 2 s and below 9 s"],
    [{ at_most: 0 }, "none", "at most 0"],
    [{}, "s", "–"],
    [null, "s", "–"],
  ])("shows the bound %j in %s as %s", (bound, unit, text) => {
    expect(boundText(bound, unit)).toBe(text);
  });

  it("shows the summary's places by the labels of their signals", () => {
    const conditions = [{ signal: "reoffload_ratio", label: "Re-offload ratio" }] as Parameters<typeof templateText>[1];
    expect(templateText("{reoffload_ratio:.0%} of {other_one:.1f} flows", conditions)).toBe(
      "⟨Re-offload ratio⟩ of ⟨other one⟩ flows",
    );
  });

  it("ranks causes by how much of the symptom they explain", () => {
    const cause = (id: string, prior: number, explains: Record<string, number>) =>
      ({ id, prior, explains }) as CauseInfo;
    const ranked = causesOf("S1", [
      cause("C1", 0.171, { S1: 0.2 }),
      cause("C5", 0.153, { S5: 0.9, S1: 0.6 }),
      cause("C6", 0.299, { S6: 0.9 }),
    ]);
    expect(ranked.map(({ cause: { id } }) => id)).toEqual(["C5", "C1"]);
  });
});
