import { describe, expect, it } from "vitest";
import { derivationText, newestText } from "./derivations";

const action = { params: [{ name: "max_idle_ms", label: "max-idle", unit: "ms" }] } as unknown as Parameters<
  typeof newestText
>[1];
const kept = { derivations: { max_idle_ms: "longest counter gap 87.3 s x 2, rounded up to 180,000 ms" } };
const newest = {
  newest: { params: { max_idle_ms: 90_000 }, derivations: { max_idle_ms: "present max-idle 30,000 ms x 3" } },
};

describe("a recommended value", () => {
  it("says how it was derived, by its parameter's label", () => {
    expect(derivationText(kept, action)).toEqual([
      "max-idle: longest counter gap 87.3 s x 2, rounded up to 180,000 ms",
    ]);
    expect(derivationText({ derivations: {} }, action)).toEqual([]);
  });

  it("says what deriving again would change, and nothing where that is the same", () => {
    expect(newestText(newest, action)).toBe("max-idle 90,000 ms (present max-idle 30,000 ms x 3)");
    expect(newestText({ newest: null }, action)).toBeNull();
  });
});
