import { expect, it } from "vitest";
import { withGaps } from "./gaps";

const row = (index: number) => ({ index, start: 100 + index * 50, end: 150 + index * 50 });

it("rows that are not next to each other keep their places, and the heights add up to the whole", () => {
  const rows = withGaps([row(2), row(3), row(9)], 100, 100 + 20 * 50);
  expect(rows.map((each) => (typeof each === "number" ? each : `row ${each.index}`))).toEqual([
    100,
    "row 2",
    "row 3",
    250,
    "row 9",
    500,
  ]);
  const height = rows.reduce<number>((sum, each) => sum + (typeof each === "number" ? each : each.end - each.start), 0);
  expect(height).toBe(20 * 50);
});

it("a list that is all in sight has no gap", () => {
  expect(withGaps([row(0), row(1)], 100, 200)).toEqual([row(0), row(1)]);
  expect(withGaps([], 100, 100)).toEqual([]);
});
