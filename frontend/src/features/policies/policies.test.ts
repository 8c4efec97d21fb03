import { describe, expect, it } from "vitest";
import type { Automaton, PolicySummary } from "@/lib/api/types";
import { distances, guardLines, layout } from "./automatonLayout";
import { matching, parseEditorSearch, parsePolicyFilters, parsePolicySearch } from "./filters";
import { segments, summaryText } from "./segments";

const AUTOMATON: Automaton = {
  states: [
    { id: 0, verdict: "?", retired: false },
    { id: 1, verdict: "?", retired: false },
    { id: 2, verdict: "F", retired: false },
  ],
  edges: [
    { source: 0, target: 0, guard: "!A" },
    { source: 0, target: 1, guard: "A" },
    { source: 1, target: 0, guard: "!A & C" },
    { source: 1, target: 2, guard: "B & !C" },
    { source: 2, target: 2, guard: "true" },
  ],
};

describe("an automaton is laid out", () => {
  it("in columns by the distance from the start", () => {
    expect([...distances(AUTOMATON)]).toEqual([[0, 0], [1, 1], [2, 2]]);
    const { states, width, height } = layout(AUTOMATON);
    const xs = states.map(({ x }) => x);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(states.every(({ x, y }) => x > 0 && y > 0 && x < width && y < height)).toBe(true);
  });

  it("without the loop of a final state, and with an edge and its way back apart", () => {
    const { edges } = layout(AUTOMATON);
    expect(edges.map(({ key }) => key)).toEqual(["0 0", "0 1", "1 0", "1 2"]);
    const [there, back] = [edges[1], edges[2]];
    expect(Math.abs((there?.label.y ?? 0) - (back?.label.y ?? 0))).toBeGreaterThan(20);
  });

  it("with states that nothing leads to behind the others", () => {
    const lonely = { states: [...AUTOMATON.states, { id: 3, verdict: "T", retired: false } as const], edges: AUTOMATON.edges };
    const { states } = layout(lonely);
    expect(states[3]?.x).toBeGreaterThan(states[2]?.x ?? 0);
  });

  it("with guards in short lines", () => {
    expect(guardLines("A")).toEqual(["A"]);
    expect(guardLines("A & !B | !A & B")).toEqual(["A & !B | !A & B"]);
    expect(guardLines("FIRST & SECOND & !THIRD | !FIRST & FOURTH")).toEqual(["FIRST & SECOND & !THIRD |", "!FIRST & FOURTH"]);
    expect(guardLines("X".repeat(60))[0]).toHaveLength(30);
  });
});

describe("states over time", () => {
  it("are joined where neighbours are alike, with their violations", () => {
    expect(segments(["holding", "holding", "violated", "violated", "unheard"], [0, 0, 2, 1, 0])).toEqual([
      { state: "holding", from: 0, to: 2, violations: 0 },
      { state: "violated", from: 2, to: 4, violations: 3 },
      { state: "unheard", from: 4, to: 5, violations: 0 },
    ]);
  });

  it("are put into words", () => {
    expect(summaryText(["holding", "violated", "unheard"], [0, 1, 0], 60)).toBe("violated 1 time; holding for 1 min, no report for 1 min");
    expect(summaryText([], [], 60)).toBe("not violated");
  });
});

describe("the list of policies", () => {
  const policy = (changes: Partial<PolicySummary>) => ({ id: "a", title: "", formula: "", symptoms: [], causes: [], state: "holding", subject: "rnic", own: false, violations_1h: 0, violations_24h: 0, ...changes }) as PolicySummary;

  it("is filtered by what stands in the URL, and by nothing else", () => {
    expect(parsePolicyFilters({ q: " link ", state: "violated", subject: "vf", own: "yes", x: 1 })).toEqual({ q: "link", state: "violated", subject: "vf", own: "yes" });
    expect(parsePolicyFilters({ q: " ", state: "sad", own: "maybe" })).toEqual({});
    expect([parsePolicySearch({ violation: "" }), parsePolicySearch({ violation: "v" }), parseEditorSearch({ copy: "c" }), parseEditorSearch({})]).toEqual([{}, { violation: "v" }, { copy: "c" }, {}]);
  });

  it("shows first what needs a look", () => {
    const all = [policy({ id: "quiet" }), policy({ id: "off", state: "off" }), policy({ id: "some", state: "violated", violations_1h: 1 }), policy({ id: "many", state: "violated", violations_1h: 9 })];
    expect(matching(all, {}).map(({ id }) => id)).toEqual(["many", "some", "quiet", "off"]);
  });

  it("finds words in names, formulas and what a policy speaks for", () => {
    const all = [policy({ id: "link", title: "PCIe link", formula: "G !LOST", symptoms: ["S7"] }), policy({ id: "mine", own: true, state: "off" })];
    expect(matching(all, { q: "s7 lost" }).map(({ id }) => id)).toEqual(["link"]);
    expect(matching(all, { own: "yes" }).map(({ id }) => id)).toEqual(["mine"]);
    expect(matching(all, { state: "off", subject: "vf" })).toEqual([]);
  });
});
