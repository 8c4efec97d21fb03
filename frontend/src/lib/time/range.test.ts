import { describe, expect, it } from "vitest";
import { parseRange, refreshEvery, toInterval } from "./range";

describe("the time range in the URL", () => {
  it.each([
    [{}, {}],
    [{ range: "6h" }, { range: "6h" }],
    [{ range: "5y" }, {}],
    [
      { from: "2026-11-21T03:00:00Z", to: "2026-11-21T04:00:00Z" },
      { from: "2026-11-21T03:00:00.000Z", to: "2026-11-21T04:00:00.000Z" },
    ],
    [{ from: "2026-11-21T05:00:00Z", to: "2026-11-21T04:00:00Z", range: "1h" }, { range: "1h" }],
    [{ from: "yesterday", to: "today" }, {}],
  ])("reads %j as %j", (search, expected) => {
    expect(parseRange(search)).toEqual(expected);
  });

  it("ends a named range now and asks for it again; a fixed one stands still", () => {
    expect(toInterval({ range: "5m" }, 1_000_000_000)).toMatchObject({
      live: true,
      seconds: 300,
      to: new Date(1_000_000_000).toISOString(),
    });
    expect(toInterval({ from: "2026-11-21T03:00:00Z", to: "2026-11-21T04:00:00Z" }, 0)).toMatchObject({
      live: false,
      seconds: 3600,
    });
    expect(refreshEvery(300)).toBeLessThan(refreshEvery(86_400));
  });
});
