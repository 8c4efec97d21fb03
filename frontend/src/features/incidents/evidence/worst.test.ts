import { describe, expect, it } from "vitest";
import { worstOf } from "./worst";

const VALUES = [0, 0.4, null, 0.1];

describe("the worst value of a signal", () => {
  it.each([
    ["<= 0.05", 0.4],
    ["at most 5%", 0.4],
    [">= 0.2", 0],
    ["above 0.2", 0],
    ["one of 1, 2", null],
    [null, null],
  ])("with %s expected is %s", (expected, worst) => {
    expect(worstOf({ expected, value: 0 }, VALUES)).toBe(worst);
  });

  it("is unknown where nothing was measured, and of a text", () => {
    expect(worstOf({ expected: "< 1", value: 0 }, undefined)).toBeNull();
    expect(worstOf({ expected: "< 1", value: 0 }, [null])).toBeNull();
    expect(worstOf({ expected: "< 1", value: "on" }, VALUES)).toBeNull();
  });
});
