import { describe, expect, it } from "vitest";
import type { FleetForecast } from "@/lib/api/types";
import { ticksOf, timelineRows } from "./timeline";

const times = (host: string, earliest: number | null, likely: number | null, latest: number | null) =>
  ({ host, pci: "0000:3b:00.0", earliest_in_s: earliest, likely_in_s: likely, latest_in_s: latest }) as FleetForecast;

describe("the timeline of forecasts", () => {
  it("has only what is still ahead and within the time shown, soonest first", () => {
    const rows = timelineRows(
      [
        times("later", 600, 1800, 2400),
        times("soon", 60, 300, 900),
        times("there", 0, 0, 0),
        times("too late", 1800, 4000, null),
        times("not expected", 900, null, null),
      ],
      3600,
    );
    expect(rows.map(({ item }) => item.host)).toEqual(["soon", "later"]);
    expect(rows[1]).toMatchObject({ from: 600 / 3600, at: 0.5, to: 2400 / 3600, open: false });
  });

  it("cuts an interval at the end of the picture, and says so", () => {
    expect(timelineRows([times("a", 300, 900, null)], 1800)[0]).toMatchObject({ at: 0.5, to: 1, open: true });
    expect(timelineRows([times("a", 300, 900, 2000)], 1800)[0]).toMatchObject({ to: 1, open: true });
    expect(timelineRows([times("a", null, 900, 900)], 1800)[0]).toMatchObject({ from: 0.5, to: 0.5, open: false });
  });

  it.each([
    [900, [0, 5, 10, 15]],
    [1800, [0, 10, 20, 30]],
    [3600, [0, 15, 30, 45, 60]],
  ])("marks %s seconds at round minutes", (span, marks) => {
    expect(ticksOf(span)).toEqual(marks);
  });
});
