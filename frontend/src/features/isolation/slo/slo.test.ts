import { describe, expect, it } from "vitest";
import type { SloPreview, SloRule, SloRules } from "@/lib/api/types";
import { GOLD } from "@/testing/isolation";
import { problemsOf, toBody, toDraft, toNew } from "./classDraft";
import { conditionsText } from "./labels";
import { classCounts, isChanged, refusalOf } from "./previewText";
import { edited, moved, undone, unreachableFrom, withRule } from "./rulesDraft";

const rule = (slo_class: string, ...matchers: SloRule["matchers"]): SloRule => ({ slo_class, matchers });
const [A, B, C] = [rule("a"), rule("b"), rule("c")] as const;
const STORED: SloRules = { rules: [A, B], version: 7, updated_at: null, updated_by: null };

describe("a class in its form", () => {
  it("survives the way there and back, with loss in percent", () => {
    expect(toDraft(GOLD)).toMatchObject({ min: 1000, lossPercent: 0.01 });
    expect(toBody(toDraft(GOLD))).toEqual({
      ...{ name: "gold", min_mbps: 1000, max_mbps: 10_000, p50_us: 10, p99_us: 50, description: "" },
      loss: 0.0001,
    });
  });

  it("promises nothing where a field is empty", () => {
    const body = toBody({ ...toDraft(null), name: "bulk", min: 0, max: 500 });
    expect(body).toMatchObject({ p50_us: null, p99_us: null, loss: null, min_mbps: 0 });
  });

  it.each([
    [{ name: "Gold" }, "name"],
    [{ name: "" }, "name"],
    [{ name: "silver" }, "name"],
    [{ min: "" as const }, "min"],
    [{ max: 0 }, "max"],
    [{ min: 20_000 }, "max"],
    [{ p50: 100 }, "p99"],
    [{ p50: 0 }, "p50"],
    [{ lossPercent: 100 }, "lossPercent"],
  ])("with %o says what is wrong", (changes, field) => {
    expect(Object.keys(problemsOf({ ...toDraft(GOLD), ...changes }, ["silver"]))).toEqual([field]);
  });

  it("is good as it is stored", () => expect(problemsOf(toDraft(GOLD), [])).toEqual({}));

  it("comes back after its deletion without what the server adds", () => {
    expect(Object.keys(toNew(GOLD)).sort()).toEqual(
      ["description", "loss", "max_mbps", "min_mbps", "name", "p50_us", "p99_us"].sort(),
    );
  });
});

describe("rules while they are edited", () => {
  it("remember the version that they started from, and each step back", () => {
    const one = edited(null, STORED, [A]);
    const two = edited(one, { ...STORED, version: 8 }, [A, C]);
    expect(two).toMatchObject({ version: 7, rules: [A, C] });
    expect(undone(two)?.rules).toEqual([A]);
    expect(undone(one)).toBeNull();
  });

  it("move by one place, and stay at the edges", () => {
    expect(moved([A, B, C], 1, -1)).toEqual([B, A, C]);
    expect(moved([A, B, C], 1, 1)).toEqual([A, C, B]);
    expect(moved([A, B], 0, -1)).toEqual([A, B]);
    expect(moved([A, B], 1, 1)).toEqual([A, B]);
  });

  it("are replaced in place or added at the end", () => {
    expect(withRule([A, B], 0, C)).toEqual([C, B]);
    expect(withRule([A, B], null, C)).toEqual([A, B, C]);
  });

  it("are never used after one that matches every VF", () => {
    const some = rule("a", { name: "vf", op: "=", value: "1" });
    expect([unreachableFrom([some, B, some]), unreachableFrom([some]), unreachableFrom([])]).toEqual([2, 1, 0]);
  });

  it("read as a sentence", () => {
    const both = rule("a", { name: "namespace", op: "=", value: "ml" }, { name: "pod", op: "=~", value: "t.*" });
    expect(conditionsText(both)).toBe("tenant is ml, pod matches t.*");
    expect(conditionsText(A)).toBe("every VF");
  });
});

const vf = (before: string | null, name: string | null, source: "rule" | "cni" = "rule") =>
  ({
    ...{ host: "h", pci: "p", vf: 0, pod: null, tenant: null, before },
    slo: name === null && source === "rule" ? null : { name, min_mbps: 1, max_mbps: 2, source, rule: 0 },
  }) as unknown as SloPreview["vfs"][number];

describe("the preview", () => {
  it("says by which sum rules are refused", () => {
    const refused = { host: "host03", pci: "0000:3b:00.0", sum_min_mbps: 112_000, port_mbps: 100_000 };
    expect(refusalOf({ refused: [refused] })).toBe(
      "The guaranteed rates on host03 0000:3b:00.0 add up to 112 Gbit/s; its link has 100 Gbit/s.",
    );
    expect(refusalOf({ refused: [refused, refused, refused] })).toContain("So do those of 2 other RNICs.");
    expect([refusalOf({ refused: [] }), refusalOf(undefined)]).toEqual([null, null]);
  });

  it("counts classes, and what changes", () => {
    expect(classCounts({ vfs: [vf(null, "a"), vf("a", "a"), vf("a", null), vf(null, null, "cni")] })).toEqual([
      ["a", 2],
      ["no SLO", 1],
      ["CNI configuration", 1],
    ]);
    expect([vf(null, "a"), vf("a", "a"), vf("a", null), vf(null, null, "cni")].map(isChanged)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
