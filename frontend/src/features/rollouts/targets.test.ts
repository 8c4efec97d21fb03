import { describe, expect, it } from "vitest";
import { emptyColumns } from "@/lib/stream/columns";
import { candidates, chosen, placeOf, racksOf, wavesOf, wavesText } from "./targets";

const fleet = {
  ...emptyColumns(),
  host: ["h10", "h2", "h2"],
  pci: ["0000:3b:00.0", "0000:3b:00.0", "0000:86:00.0"],
  rack: ["r2", "r1", "r1"],
};
const places = (targets: readonly { host: string; pci: string | null }[]) => targets.map(placeOf);

describe("where a rollout goes", () => {
  it("is each host once, or each RNIC, by name with its numbers in order", () => {
    expect(places(candidates(fleet, [0, 1, 2], "host"))).toEqual(["h2", "h10"]);
    expect(places(candidates(fleet, [0, 2], "rnic"))).toEqual(["h2 0000:86:00.0", "h10 0000:3b:00.0"]);
    expect(racksOf(candidates(fleet, [0, 1, 2], "host"))).toEqual(["r1", "r2"]);
  });

  it("leaves out deselected targets and starts with the chosen canary", () => {
    const all = ["a", "b", "c", "d"].map((host) => ({ host, pci: null, rack: null }));
    expect(places(chosen(all, new Set(["b"]), "c"))).toEqual(["c", "a", "d"]);
    expect(places(chosen(all, new Set(["c"]), "c"))).toEqual(["a", "b", "d"]);
    expect(chosen([], new Set(), "c")).toEqual([]);
  });
});

describe("waves", () => {
  // The same examples as the server's own.
  it.each([
    [50, 1, 3, [1, 3, 9, 27, 10]],
    [1, 5, 2, [1]],
    [7, 2, 1, [2, 2, 2, 1]],
    [4, 1, 1.5, [1, 1, 2]],
    [0, 1, 3, []],
  ])("of %i targets from %i by %f", (count, canary, growth, sizes) => {
    expect(wavesOf(Array.from({ length: count }), canary, growth).map((wave) => wave.length)).toEqual(sizes);
  });

  it("in words", () => {
    const targets = Array.from({ length: 200 }, (_, i) => ({ host: `h${i}`, pci: null, rack: null }));
    expect(wavesText(wavesOf(targets.slice(0, 5), 1, 3))).toBe("first h0 alone, then 3, then 1");
    expect(wavesText(wavesOf(targets, 2, 1.5))).toMatch(
      /^first 2 \(h0 and others\), then 3, then 4, then 6, then 10, then \d more waves$/,
    );
    expect(wavesText([])).toBe("");
  });
});
