import { describe, expect, it } from "vitest";
import { filterRows, isFiltered, parseFilters } from "@/shared/fleet/filters";
import { toColumns } from "@/testing/columns";
import { describeTile } from "./canvas/tileText";
import { summarise } from "./summary";

const staleAfterMs = 45_000;

describe("filters in the URL", () => {
  it.each([
    [{}, {}],
    [{ symptom: "S1,S6" }, { symptom: "S1,S6" }],
    [{ symptom: "S9,S1,<b>" }, { symptom: "S1" }],
    [{ symptom: "S9" }, {}],
    [{ use: "near,red" }, { use: "near" }],
    [{ rack: " r1 , r2 ," }, { rack: "r1,r2" }],
    [{ q: "  host0  " }, { q: "host0" }],
    [{ rack: 7 }, { rack: "7" }],
    [{ rack: { evil: true }, other: "x" }, {}],
  ])("reads %j as %j", (search, expected) => {
    expect(parseFilters(search)).toEqual(expected);
  });

  it("knows when nothing is filtered", () => {
    expect(isFiltered(parseFilters({ symptom: "nonsense" }))).toBe(false);
    expect(isFiltered({ q: "x" })).toBe(true);
  });
});

const columns = toColumns([
  { host: "host01", symptoms: ["S1"], headroom: -0.1 },
  { host: "host02", rack: "r2", model: "CX-7", headroom: 0.05 },
  { host: "host03", rack: null, headroom: null, seen_at_ms: null },
  { host: "host10", symptoms: ["S6", "S1"], headroom: 0.3, cordoned: true },
]);

describe("filtering rows", () => {
  it.each([
    [{}, [0, 1, 2, 3]],
    [{ symptom: "S1" }, [0, 3]],
    [{ symptom: "any" }, [0, 3]],
    [{ symptom: "none" }, [1, 2]],
    [{ symptom: "S2" }, []],
    [{ use: "beyond,near" }, [0, 1]],
    [{ use: "unknown" }, [2]],
    [{ rack: "r2" }, [1]],
    [{ host: "host1" }, []],
    [{ q: "CX-7" }, [1]],
    [{ q: "host0 s1" }, [0]],
    [{ model: "CX-6", symptom: "S6" }, [3]],
  ])("%j keeps rows %j", (filters, expected) => {
    expect(filterRows(columns, filters)).toEqual(expected);
  });
});

describe("the summary", () => {
  const summary = summarise({ columns, staleAfterMs }, [0, 1, 2, 3], 2_000);

  it("counts by band, by symptom, stale and cordoned", () => {
    expect(summary.bands).toEqual({ beyond: 1, near: 1, high: 0, moderate: 1, low: 0, unknown: 1 });
    expect(summary.symptoms).toEqual([
      ["S1", 2],
      ["S6", 1],
    ]);
    expect([summary.stale, summary.cordoned, summary.total]).toEqual([1, 1, 4]);
  });

  it("lists who needs attention, sickest first, and leaves the merely unknown out", () => {
    expect(summary.sickest).toEqual([3, 0, 1]);
    expect(summary.needAttention).toBe(3);
  });

  it("never counts a missing headroom as healthy", () => {
    expect(summarise({ columns, staleAfterMs }, [2], 2_000).bands.low).toBe(0);
  });

  it("calls a sample stale only after the time that the server says", () => {
    const one = toColumns([{ host: "a", seen_at_ms: 100_000 }]);
    expect(summarise({ columns: one, staleAfterMs }, [0], 144_000).stale).toBe(0);
    expect(summarise({ columns: one, staleAfterMs }, [0], 146_000).stale).toBe(1);
  });
});

describe("a tile in words", () => {
  it("says everything that its colours and marks say", () => {
    expect(describeTile(columns, 0, (wall) => wall.replace("_", " "), 2_000, staleAfterMs)).toBe(
      "host01 0000:3b:00.0; CX-6; 1.1× limit, nearest limit offloaded flows; symptoms S1",
    );
    expect(describeTile(columns, 3, () => "flows", 2_000, staleAfterMs)).toContain("cordoned");
  });

  it("says that the limit is unknown and when nothing was seen", () => {
    const text = describeTile(columns, 2, () => "flows", 2_000, staleAfterMs);
    expect(text).toContain("limit unknown");
    expect(text).toContain("stale, last seen never");
  });
});
