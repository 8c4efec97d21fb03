import { describe, expect, it } from "vitest";
import { rnicKey } from "@/lib/stream/columns";
import { toColumns } from "@/testing/columns";
import { filterRows } from "@/shared/fleet/filters";
import { headroomsByRow } from "./byRow";
import { colouringOf } from "./colouring";
import { layoutFleet } from "./canvas/layout";
import { CONTENTION, limitOf, parseFleetSearch, parseView } from "./view";

describe("the fleet's view in the URL", () => {
  it.each([
    [{}, {}],
    [{ group: "rack", order: "name" }, {}],
    [
      { group: "model", colour: "limit:egress_masks", order: "sick", sick: "1" },
      { group: "model", colour: "limit:egress_masks", order: "sick", sick: "1" },
    ],
    [{ group: "colour", colour: "limit:<b>", sick: "yes" }, {}],
    [{ colour: "tx_gbps" }, { colour: "tx_gbps" }],
  ])("reads %j as %j", (search, expected) => {
    expect(parseFleetSearch(search)).toEqual(expected);
  });

  it("knows its limit", () => {
    expect([limitOf({ colour: "limit:egress_masks" }), limitOf({ colour: "tx_gbps" }), limitOf({})]).toEqual([
      "egress_masks",
      null,
      null,
    ]);
  });
});

const columns = toColumns([
  { host: "h1", model: "CX-6", headroom: 0.4, tx_gbps: 90 },
  { host: "h2", model: "CX-7", symptoms: ["S1"], headroom: 0.6, tx_gbps: 10 },
  { host: "h3", model: "CX-6", headroom: -0.1, tx_gbps: null },
]);

describe("only the sick", () => {
  it("are those with a symptom and those near or over a limit", () => {
    expect(filterRows(columns, { sick: "1" })).toEqual([1, 2]);
    expect(filterRows(columns, { sick: "1", model: "CX-7" })).toEqual([1]);
  });
});

describe("groups of the fleet", () => {
  const rows = [0, 1, 2];
  const names = (arrange: Parameters<typeof layoutFleet>[3]) =>
    layoutFleet(columns, rows, 2, arrange).racks.map((r) => r.name);

  it("are racks, or whatever is asked for, by name", () => {
    expect(names({ groups: columns.model, missing: "unknown model" })).toEqual(["CX-6", "CX-7"]);
    expect(names({ groups: ["1.10", null, "1.9"], missing: "unknown firmware" })).toEqual([
      "1.9",
      "1.10",
      "unknown firmware",
    ]);
  });

  it("begin with the one that has most sick RNICs when the sick come first", () => {
    expect(names({ groups: columns.model, missing: "-", sick: new Set([1]) })).toEqual(["CX-7", "CX-6"]);
    const { racks } = layoutFleet(columns, rows, 2, { groups: ["a", "a", "a"], missing: "-", sick: new Set([2]) });
    expect(racks[0]?.hosts.map((host) => host.name)).toEqual(["h3", "h1", "h2"]);
  });
});

describe("the colours of the fleet", () => {
  it("are how much of the nearest limit is used", () => {
    const colouring = colouringOf(columns, {}, null);
    expect([0, 1, 2].map(colouring.shade)).toEqual(["moderate", "low", "beyond"]);
    expect(colouring.text(2)).toBe("1.1× limit");
  });

  it("are those of one limit when it is asked for, unknown where it is", () => {
    const colouring = colouringOf(columns, { colour: "limit:egress_masks" }, [0.05, null, 0.8]);
    expect([0, 1, 2].map(colouring.shade)).toEqual(["near", "unknown", "low"]);
    expect(colouring.text(0)).toBe("95% of limit");
  });

  it("are the share of the fleet's highest rate, and never an alarm", () => {
    const colouring = colouringOf(columns, { colour: "tx_gbps" }, null);
    expect([0, 1, 2].map(colouring.shade)).toEqual(["rate5", "rate1", "unknown"]);
    expect(colouring.text(1)).toBe("10 Gbit/s");
  });
});

describe("headrooms of network functions", () => {
  it("stand at the rows of their cards, and nowhere else", () => {
    const index = new Map(columns.host.map((host, row) => [rnicKey(host, columns.pci[row] ?? ""), row]));
    const card = { host: columns.host[1] ?? "", pci: columns.pci[1] ?? "", function: "ids", loss: 0.1, sla_drop: 0.2 };
    const found = headroomsByRow({ columns, index }, [
      { ...card, headroom: 0.5 },
      { ...card, host: "elsewhere", headroom: -1 },
    ]);
    expect(found).toEqual([null, 0.5, null]);
    expect(parseView({ colour: `limit:${CONTENTION}` })).toEqual({ colour: "limit:contention" });
  });
});
