import { describe, expect, it } from "vitest";
import { asFixed, fixedRange, parseRange, refreshEvery, shift, toInterval, zoomOut } from "./range";

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

describe("moving through time", () => {
  const at = (clock: string) => `2026-11-21T${clock}.000Z`;
  const now = Date.parse(at("12:00:00"));
  const hour = { from: at("03:00:00"), to: at("04:00:00") };

  it("zooms out to twice the length around the same middle", () => {
    expect(zoomOut(hour, now)).toEqual({ from: at("02:30:00"), to: at("04:30:00") });
  });

  it("zooms a live range out to the next longer one, which stays live", () => {
    expect(zoomOut({}, now)).toEqual({ range: "1h" });
    expect(zoomOut({ range: "7d" }, now)).toEqual({ range: "7d" });
  });

  it("steps by half of the length, never into the future", () => {
    expect(shift(hour, -1, now)).toEqual({ from: at("02:30:00"), to: at("03:30:00") });
    expect(shift({ from: at("11:00:00"), to: at("11:50:00") }, 1, now)).toEqual({
      from: at("11:10:00"),
      to: at("12:00:00"),
    });
    expect(shift({ range: "1h" }, -1, now)).toEqual({ from: at("10:30:00"), to: at("11:30:00") });
  });

  it("fixes the minutes that a live range shows", () => {
    expect(asFixed({ range: "15m" }, now)).toEqual({ from: at("11:45:00"), to: at("12:00:00") });
    expect(asFixed(hour, now)).toEqual(hour);
  });

  it("takes a selection in either direction, and never one too short to show a sample", () => {
    expect(fixedRange(Date.parse(hour.to), Date.parse(hour.from), now)).toEqual(hour);
    const { from, to } = fixedRange(now - 5000, now - 5000, now);
    expect(Date.parse(to ?? "") - Date.parse(from ?? "")).toBe(10_000);
  });
});
