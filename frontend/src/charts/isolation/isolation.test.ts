import { describe, expect, it } from "vitest";
import { bulletShape, bulletTop } from "./bullet";
import { type StripCell, stepAt, stripPaths, toStrip } from "./strip";

const NOTHING = { value: null, min: null, max: null, limit: null };

describe("a bullet", () => {
  it("leaves room beyond the promise, and shares one scale among the rates of a VF", () => {
    const tx = { value: 4, min: 1, max: 10, limit: 8 };
    const rx = { value: 30, min: 1, max: 10, limit: null };
    expect(bulletTop([tx])).toBe(12);
    expect(bulletTop([tx, rx])).toBe(30);
    expect(bulletShape(tx, 12)).toMatchObject({ max: (10 / 12) * 100, beyond: false });
    expect(bulletShape(rx, 30)).toMatchObject({ value: 100, beyond: true });
  });

  it("draws nothing for what is unknown, and never divides by zero", () => {
    expect(bulletTop([NOTHING])).toBe(1);
    expect(bulletShape(NOTHING, 1)).toEqual({ ...NOTHING, beyond: false });
    expect(bulletShape({ ...NOTHING, value: 5 }, 1).value).toBe(100);
  });

  it("is not beyond a promise that does not exist", () => {
    expect(bulletShape({ ...NOTHING, value: 5 }, 10).beyond).toBe(false);
  });
});

const cell = (atMs: number, changes: Partial<StripCell> = {}): StripCell => ({
  atMs,
  kind: "kept",
  broken: 0,
  aggressor: 0,
  ...changes,
});

describe("a strip", () => {
  it("puts each cell at its step and leaves the others unknown", () => {
    const strip = toStrip([cell(1000), cell(3000), cell(9000), cell(-1000)], 0, 4000, 1000);
    expect(strip.cells.map((each) => each?.atMs)).toEqual([undefined, 1000, undefined, 3000]);
  });

  it("has at least one step", () => {
    expect(toStrip([], 0, 0, 1000)).toMatchObject({ count: 1, cells: [undefined] });
  });

  it("draws neighbours of one kind as one rectangle, and a gap as nothing", () => {
    const cells = [cell(0), cell(1), undefined, cell(3), cell(4, { kind: "broken", broken: 1 })];
    const paths = stripPaths({ cells });
    expect(paths.kept).toBe("M0 11H2V14H0ZM3 11H4V14H3Z");
    expect(paths.broken).toBe("M4 0H5V14H4Z");
    expect(paths.unknown).toBe("");
  });

  it("shows by height how much of a step was broken", () => {
    const broken = (share: number) => stripPaths({ cells: [cell(0, { kind: "broken", broken: share })] }).broken;
    expect([broken(0.1), broken(0.5), broken(0.9)]).toEqual(["M0 6H1V14H0Z", "M0 3H1V14H0Z", "M0 0H1V14H0Z"]);
  });

  it("has a lane of its own for what the VF did to others", () => {
    const paths = stripPaths({ cells: [cell(0, { aggressor: 1 }), cell(1, { aggressor: 0.2 }), cell(2)] });
    expect(paths.aggressor).toBe("M0 16H2V20H0Z");
    expect(paths.kept).toBe("M0 11H3V14H0Z");
  });

  it("finds the step under a cursor, also at both edges", () => {
    expect([stepAt(0, 10), stepAt(0.55, 10), stepAt(1, 10), stepAt(-1, 10)]).toEqual([0, 5, 9, 0]);
  });
});
