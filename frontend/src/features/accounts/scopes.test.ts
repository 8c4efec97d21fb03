import { describe, expect, it } from "vitest";
import { limitsOf, namesIn, racksIn, stateNote, toScopes } from "./scopes";

describe("what a token is limited to", () => {
  it.each([
    [{ hosts: [], racks: [] }, "all hosts"],
    [{ hosts: ["host01"], racks: ["r1"] }, "host host01, rack r1"],
    [{ hosts: ["a", "b", "c", "d"], racks: [] }, "host a, host b and 2 more"],
  ])("%o is shown as %s", (token, text) => expect(limitsOf(token)).toBe(text));

  it("reads names however they are separated, each once", () => {
    expect(namesIn(" host01, host02\nhost01 host03,")).toEqual(["host01", "host02", "host03"]);
    expect(namesIn("  ")).toEqual([]);
  });

  it("keeps the spaces in names of racks", () => {
    expect(racksIn(" row 1 rack 7, r8 ,")).toEqual(["row 1 rack 7", "r8"]);
  });

  it("keeps known scopes only, in their order", () => {
    expect(toScopes(["remedies", "nonsense", "read"])).toEqual(["read", "remedies"]);
  });
});

describe("whether a token works", () => {
  it.each([
    [{ state: "active", role: "admin", effective_role: "admin" }, null],
    [{ state: "active", role: "admin", effective_role: "viewer" }, "viewer only: its owner's role"],
    [{ state: "owner_disabled", role: "admin", effective_role: null }, "not valid: its owner is disabled"],
    [{ state: "no_owner", role: "viewer", effective_role: null }, "not valid: it has no owner; create a new one"],
  ] as const)("%o", (token, note) => expect(stateNote(token)).toBe(note));
});
