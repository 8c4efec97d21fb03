import { describe, expect, it } from "vitest";
import { STATES } from "@/testing/catalogue";
import { fromSearch, isFiltered, parseIncidentFilters, stateChoice, statesOf, toQuery, toSearch } from "./filters";

const TABLE = STATES.incident;

describe("incident filters in the URL", () => {
  it.each([
    [{}, {}],
    [{ state: "unresolved", sort: "opened_at", order: "desc" }, {}],
    [
      { state: "resolved", symptom: "S6" },
      { state: "resolved", symptom: "S6" },
    ],
    [{ symptom: "S1,S66,silent,loud" }, { symptom: "S1,silent" }],
    [
      {
        state: "moved away",
        symptom: "S66",
        severity: "loud",
        cause: "C9",
        scope: "moon",
        active: "perhaps",
        sort: "luck",
        group: "toString",
      },
      {},
    ],
    [
      { fw_ver: 22.36, host: " host03 ", q: "  ", assignee: "me" },
      { fw_ver: "22.36", host: "host03", assignee: "me" },
    ],
  ])("reads %j as %j", (search, expected) => {
    expect(parseIncidentFilters(search)).toEqual(expected);
  });

  it("requests unresolved incidents by default", () => {
    expect(statesOf(TABLE, undefined)).toEqual(["open", "acknowledged", "suppressed", "reopened"]);
    expect(statesOf(TABLE, "resolved")).toEqual(["resolved"]);
    expect(statesOf(TABLE, "all")).toBeUndefined();
  });

  it("takes a state that the catalogue lacks for the default", () => {
    expect(statesOf(TABLE, "gone")).toEqual(statesOf(TABLE, undefined));
    expect(["gone", "resolved", "all", undefined].map((state) => stateChoice(TABLE, state))).toEqual([
      "unresolved",
      "resolved",
      "all",
      "unresolved",
    ]);
  });

  it("become the API's, with the reader's own name for `me`", () => {
    expect(
      toQuery(
        { state: "open", symptom: "S1,S2", assignee: "me", active: "no", sort: "severity", rack: "r1" },
        "dana",
        TABLE,
      ),
    ).toEqual({
      state: ["open"],
      symptom: ["S1", "S2"],
      assignee: "dana",
      active: false,
      rack: "r1",
    });
  });

  it("survive being saved as a view", () => {
    const filters = parseIncidentFilters({
      state: "all",
      symptom: "S1,S5",
      q: "a&b=c d",
      fw_ver: "22.36.1010",
      group: "rack",
    });
    expect(filters.group).toBe("rack");
    expect(fromSearch(toSearch(filters))).toEqual(filters);
  });

  it("are distinguished from a choice of state, order or groups alone", () => {
    expect([isFiltered({ state: "all", sort: "severity", group: "host" }), isFiltered({ rack: "r1" })]).toEqual([
      false,
      true,
    ]);
  });
});
