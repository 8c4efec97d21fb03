import { describe, expect, it } from "vitest";
import { indexOf } from "@/lib/stream/columns";
import { toColumns } from "@/testing/columns";
import { parseFleetSearch } from "../view";
import { endOf, minuteAgo, minuteOf, minutesAgo } from "./minutes";
import { replayed } from "./replayed";

const NOON = Date.parse("2026-01-02T12:00:30Z");

describe("minutes of the replay", () => {
  it("stand in the URL without seconds, and nothing else does", () => {
    expect(minuteOf(NOON)).toBe("2026-01-02T12:00Z");
    expect(parseFleetSearch({ at: "2026-01-02T12:00Z" })).toEqual({ at: "2026-01-02T12:00Z" });
    for (const at of ["2026-01-02T12:00:30Z", "2026-13-02T12:00Z", "yesterday", 12])
      expect(parseFleetSearch({ at })).toEqual({});
  });

  it("are counted back from the current one", () => {
    expect(minuteAgo(1, NOON)).toBe("2026-01-02T11:59Z");
    expect(minutesAgo(minuteAgo(60, NOON), NOON)).toBe(60);
    expect(endOf("2026-01-02T11:59Z")).toBe(Date.parse("2026-01-02T11:59:59.999Z"));
  });
});

describe("a fleet that is replayed", () => {
  const columns = toColumns([
    { host: "h1", headroom: 0.1, symptoms: ["S1"], recent: ["S6"], cordoned: true, tx_gbps: 9 },
    { host: "h2", headroom: 0.5, tx_gbps: 8 },
    { host: "h3", headroom: 0.4, tx_gbps: 7 },
  ]);
  const live = { columns, index: indexOf(columns), asOf: NOON, staleAfterMs: 40_000, version: 1, shape: 1 };
  const [first = "", second = ""] = columns.pci;
  // In another order, with one that has left, and without the third.
  const state = replayed(live, {
    minute: "2026-01-02T11:30:00Z",
    host: ["h2", "gone", "h1"],
    pci: [second, "0000:01:00.0", first],
    headroom: [-0.2, 0.9, 0.8],
    nearest_wall: ["egress_masks", null, null],
    wall_headroom: [null, null, null],
    symptoms: [["S6"], [], []],
    tx_gbps: [1, 2, 3],
    rx_gbps: [4, 5, 6],
  });

  it("has the values of then in the rows of today", () => {
    expect(state.columns.host).toEqual(["h1", "h2", "h3"]);
    expect(state.columns.headroom).toEqual([0.8, -0.2, null]);
    expect(state.columns.symptoms).toEqual([[], ["S6"], []]);
    expect(state.columns.tx_gbps).toEqual([3, 1, null]);
    expect(live.columns.headroom, "the live fleet is untouched").toEqual([0.1, 0.5, 0.4]);
  });

  it("does not say of then what only holds now, and shows as stale what was not measured", () => {
    expect(state.columns.recent).toEqual([[], [], []]);
    expect(state.columns.cordoned).toEqual([false, false, false]);
    const end = endOf("2026-01-02T11:30Z");
    expect(state.columns.seen_at_ms).toEqual([end, end, null]);
    expect(state.asOf).toBe(end);
  });
});
