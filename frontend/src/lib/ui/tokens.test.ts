import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ciede2000, toLab, VISIONS } from "@/testing/colours";

const sheet = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");

/** The colours of a theme by name, without `--ww-`. */
function colours(theme: string): Record<string, string> {
  const block = new RegExp(`${theme}"\\] \\{([^}]*)`).exec(sheet)?.[1] ?? "";
  return Object.fromEntries([...block.matchAll(/--ww-([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex]));
}

/** Colours that stand next to each other and mean different things. */
const SETS = {
  "how much of a limit is used": ["band-low", "band-moderate", "band-high", "band-near", "band-beyond", "band-unknown"],
  rates: ["band-rate1", "band-rate2", "band-rate3", "band-rate4", "band-rate5"],
  "lines of a chart": ["series-1", "series-2", "series-3", "series-4"],
};
/** These have a shape, too: a triangle and a diamond. */
const MARKED = new Set(["band-near", "band-beyond"]);
const APART = 12;

describe("the distance of colours", () => {
  // Pairs of the test data that Sharma, Wu and Dalal published with the formula.
  it.each([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ] as const)("of %j and %j is %d", (a, b, expected) => {
    expect(ciede2000(a, b)).toBeCloseTo(expected, 4);
    expect(ciede2000(b, a)).toBeCloseTo(expected, 4);
  });
});

describe.each(["dark", "light"])("the %s theme", (theme) => {
  it.each(Object.entries(SETS))("tells %s apart for everyone, or marks them", (_, names) => {
    const hex = colours(theme);
    const close = VISIONS.flatMap((vision) =>
      names.flatMap((first, i) =>
        names.slice(i + 1).flatMap((second) => {
          if (MARKED.has(first) || MARKED.has(second)) return [];
          const distance = ciede2000(toLab(hex[first] ?? "", vision), toLab(hex[second] ?? "", vision));
          return distance > APART ? [] : [`${vision}: ${first} and ${second}: ${distance.toFixed(1)}`];
        }),
      ),
    );
    expect(close).toEqual([]);
  });
});
