import { describe, expect, it } from "vitest";
import type { Incident } from "@/lib/api/types";
import { AGGRESSOR, vfOf, VICTIM } from "@/testing/isolation";
import { LIMIT_ACTION, purposeForVf, recommend } from "./recommendation";
import { fromSorting, matchingVfs, parseVfsView, severity, toSorting } from "./view";

describe("the recommended limit", () => {
  it("is the rate at the fair share", () => {
    expect(recommend(AGGRESSOR)?.mbps).toBe(5000);
  });

  it("is never below what the VF is promised", () => {
    const promised = vfOf({ tx_mbps: 2000, share: 0.8, fair_share: 0.2 });
    expect(recommend(promised)).toMatchObject({ mbps: 1000, why: expect.stringContaining("what it is promised") });
  });

  it.each([
    ["takes less than its share", vfOf({ share: 0.1, fair_share: 0.2 })],
    ["has no known share", vfOf({ share: null })],
    ["has no known rate", vfOf({ tx_mbps: null, share: 0.8 })],
    ["sends nothing: it is hurt by what it receives", vfOf({ tx_mbps: 0, share: 0.8, fair_share: 0.2 })],
  ])("does not exist for a VF that %s", (_, vf) => expect(recommend(vf)).toBeNull());
});

describe("what a limit is for", () => {
  const incident = (id: string, vf: number): Incident =>
    ({
      id,
      symptom: "isolation",
      title: id,
      remedies: [{ action: LIMIT_ACTION, params: { vf, max_tx_mbps: 100 * vf }, why: "" }],
    }) as unknown as Incident;

  it("is the incident that suggests it for this VF, not one that suggests it for another", () => {
    const purpose = purposeForVf([incident("a", 2), incident("b", 5)], 5)(LIMIT_ACTION);
    expect(purpose).toMatchObject({ incident: { id: "b" }, suggestion: { params: { max_tx_mbps: 500 } } });
  });

  it("is an open incident about isolation without a value where none suggests it", () => {
    const purpose = purposeForVf([incident("a", 2)], 5)(LIMIT_ACTION);
    expect(purpose).toMatchObject({ incident: { id: "a" } });
    expect(purpose?.suggestion).toBeUndefined();
    expect(purposeForVf([], 5)(LIMIT_ACTION)).toBeNull();
  });
});

describe("what the page shows", () => {
  it("takes from the URL only what it knows", () => {
    expect(parseVfsView({ strip: "6h", q: " ads ", show: "affected", sort: "-broken" })).toEqual({
      strip: "6h",
      q: "ads",
      show: "affected",
      sort: "-broken",
    });
    expect(parseVfsView({ strip: "9h", q: "", show: "worst", sort: "colour" })).toEqual({});
  });

  it("keeps an order in one word", () => {
    expect(toSorting({ sort: "-tx" })).toEqual([{ id: "tx", desc: true }]);
    expect(fromSorting([{ id: "vf", desc: false }])).toBe("vf");
    expect([toSorting({}), fromSorting([])]).toEqual([[], undefined]);
  });

  it("finds by pod, tenant, class and number", () => {
    const numbers = (view: object) => matchingVfs([VICTIM, AGGRESSOR], view).map((vf) => vf.vf);
    expect([numbers({ q: "gold" }), numbers({ q: "vf2" }), numbers({ show: "promised" })]).toEqual([[0], [2], [0]]);
    expect(numbers({ show: "affected", q: "nobody" })).toEqual([]);
  });

  it("ranks broken above its cause, and both above calm", () => {
    expect([VICTIM, AGGRESSOR, vfOf({ state: "unknown" }), vfOf()].map(severity)).toEqual([4, 3, 2, 1]);
  });
});
