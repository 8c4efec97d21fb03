import { describe, expect, it } from "vitest";
import type { Automaton, EventKind, PolicyBacktest, PolicySummary } from "@/lib/api/types";
import { distances, guardLines, layout } from "./automaton/automatonLayout";
import { verdictText } from "./BacktestPanel";
import { exampleSteps, toggled, within } from "./editor/bench";
import { bindingsOf, definitionOf, EMPTY, fieldsOf, kindChoices, nameOf, rebound, rowsOf } from "./editor/draft";
import { cut } from "./editor/FormulaField";
import { matching, parseEditorSearch, parsePolicyFilters, parsePolicySearch } from "./filters";
import { segments, summaryText } from "./states/segments";
import { stepTo } from "./violations/TraceStepper";

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
    expect([...distances(AUTOMATON)]).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    const { states, edges, left, top, width, height } = layout(AUTOMATON);
    const xs = states.map(({ x }) => x);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    const inside = [...states, ...edges.map(({ label }) => label)];
    expect(inside.every(({ x, y }) => x > left && y > top && x < left + width && y < top + height)).toBe(true);
  });

  it("without the loop of a final state, and with an edge and its way back apart", () => {
    const { edges } = layout(AUTOMATON);
    expect(edges.map(({ key }) => key)).toEqual(["0 0", "0 1", "1 0", "1 2"]);
    const [there, back] = [edges[1], edges[2]];
    expect(Math.abs((there?.label.y ?? 0) - (back?.label.y ?? 0))).toBeGreaterThan(20);
  });

  it("so that no label lies on another one", () => {
    const long = "LATE & !LINK_BACK & LINK_LOST | LATE & !LINK_BACK & !LINK_LOST";
    const wordy = { states: AUTOMATON.states, edges: AUTOMATON.edges.map((edge) => ({ ...edge, guard: long })) };
    const boxes = layout({ ...wordy, edges: [...wordy.edges, { source: 1, target: 1, guard: long }] }).edges.map(
      ({ label, lines }) => {
        const half = (Math.max(...lines.map((line) => line.length)) * 6.7) / 2;
        return {
          left: label.x - half,
          right: label.x + half,
          top: label.y - 10,
          bottom: label.y + (lines.length - 1) * 13,
        };
      },
    );
    const overlaps = boxes.flatMap((a, i) =>
      boxes.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
    );
    expect(overlaps).toEqual([]);
  });

  it("with states that nothing leads to behind the others", () => {
    const lonely = {
      states: [...AUTOMATON.states, { id: 3, verdict: "T", retired: false } as const],
      edges: AUTOMATON.edges,
    };
    const { states } = layout(lonely);
    expect(states[3]?.x).toBeGreaterThan(states[2]?.x ?? 0);
  });

  it("with guards in short lines", () => {
    expect(guardLines("A")).toEqual(["A"]);
    expect(guardLines("A & !B | !A & B")).toEqual(["A & !B | !A & B"]);
    expect(guardLines("FIRST & SECOND & !THIRD | !FIRST & FOURTH")).toEqual([
      "FIRST & SECOND & !THIRD |",
      "!FIRST & FOURTH",
    ]);
    expect(guardLines("X".repeat(60))[0]).toHaveLength(30);
    expect(guardLines(Array.from({ length: 9 }, () => "A & B & C & D & E & F").join(" | "))).toEqual([
      "A & B & C & D & E & F |",
      "A & B & C & D & E & F |",
      "…",
    ]);
  });
});

describe("a trace", () => {
  it("is stepped through from before its first step to its last", () => {
    expect(["ArrowRight", "ArrowLeft", "Home", "End", "x"].map((key) => stepTo(key, 1, 2))).toEqual([
      2,
      0,
      -1,
      2,
      null,
    ]);
    expect([stepTo("ArrowRight", 2, 2), stepTo("ArrowUp", -1, 2)]).toEqual([2, -1]);
  });

  it("of the bench is made by pressing what holds", () => {
    expect(toggled([[], ["A"]], 1, "B")).toEqual([[], ["A", "B"]]);
    expect(toggled([["A"]], 0, "A")).toEqual([[]]);
    expect(
      exampleSteps([
        [{ proposition: "A", holds: true }],
        [
          { proposition: "A", holds: false },
          { proposition: "B", holds: true },
        ],
      ]),
    ).toEqual([["A"], ["B"]]);
    expect([exampleSteps(undefined), within([["A", "B"]], ["B"])]).toEqual([[], [["B"]]]);
  });
});

describe("a policy that is being written", () => {
  const kind = (name: string, subjects: EventKind["subjects"], when: EventKind["when"] = {}) =>
    ({
      kind: name,
      label: name,
      source: name.startsWith("cni") ? "CNI chain" : "sysfs",
      subjects,
      stays_on_host: false,
      when,
    }) as EventKind;
  const KINDS = [
    kind("cni_add", ["vf", "host"], { result: ["ok", "refused"], pod: [] }),
    kind("cni_check", ["vf", "host"], { result: ["ok"] }),
    kind("port_up", ["rnic", "host"]),
  ];
  const draft = {
    ...EMPTY,
    formula: "G(A -> X LATE)",
    propositions: { A: { kind: ["cni_add"] }, GONE: { kind: [] }, KEPT: { kind: ["port_up"] } },
    timer: { name: "LATE", after: "A", unless: null, seconds: 5 },
  };

  it("is named after its title", () => {
    expect([nameOf("A port comes back!"), nameOf("7 wonders"), nameOf("–")]).toEqual([
      "a-port-comes-back",
      "wonders",
      "",
    ]);
  });

  it("has a row for each proposition that an event must set, and sends those that one does", () => {
    expect(rowsOf(draft, ["A", "LATE"])).toEqual(["A", "KEPT"]);
    expect(Object.keys(bindingsOf(draft).propositions ?? {})).toEqual(["A", "KEPT"]);
    expect(definitionOf({ ...draft, note: " " }).note).toBeNull();
  });

  it("offers the events that its subject can have, by where they come from", () => {
    expect(kindChoices(KINDS, "host").map(({ group, items }) => [group, items.length])).toEqual([
      ["CNI chain", 2],
      ["sysfs", 1],
    ]);
    expect(rebound(draft.propositions, KINDS, "rnic")).toEqual({
      A: { kind: [] },
      GONE: { kind: [] },
      KEPT: { kind: ["port_up"] },
    });
  });

  it("asks for fields that all chosen events have", () => {
    expect(fieldsOf(KINDS, ["cni_add", "cni_check"])).toEqual([{ field: "result", values: ["ok", "refused"] }]);
    expect([fieldsOf(KINDS, ["cni_add"]).map(({ field }) => field), fieldsOf(KINDS, [])]).toEqual([
      ["result", "pod"],
      [],
    ]);
  });

  it("shows where in the formula a problem is", () => {
    expect(cut("G(A @ B)", { position: 4, length: 1 })).toEqual(["G(A ", "@", " B)"]);
    expect(cut("G(", { position: 2, length: 0 })).toEqual(["G(", "▯", ""]);
    expect(cut("G", { position: null, length: null })).toBeNull();
  });
});

describe("a backtest", () => {
  const result = (changes: Partial<PolicyBacktest>) =>
    ({ events: 9, violations: 0, subjects_violated: 0, ...changes }) as PolicyBacktest;
  it("says in a sentence what would have been", () => {
    expect(verdictText(result({ violations: 14, subjects_violated: 3 }), "the last week")).toBe(
      "It would have fired 14 times in the last week, on 3 subjects.",
    );
    expect(verdictText(result({}), "the last hour")).toBe("It would not have fired in the last hour.");
    expect(verdictText(result({ events: 0 }), "the last hour")).toBe(
      "No relevant events are stored for the last hour.",
    );
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
    expect(summaryText(["holding", "violated", "unheard"], [0, 1, 0], 60)).toBe(
      "violated 1 time; holding for 1 min, no report for 1 min",
    );
    expect(summaryText([], [], 60)).toBe("not violated");
  });
});

describe("the list of policies", () => {
  const policy = (changes: Partial<PolicySummary>) =>
    ({
      id: "a",
      title: "",
      formula: "",
      symptoms: [],
      causes: [],
      state: "holding",
      subject: "rnic",
      own: false,
      violations_1h: 0,
      violations_24h: 0,
      ...changes,
    }) as PolicySummary;

  it("is filtered by what stands in the URL, and by nothing else", () => {
    expect(parsePolicyFilters({ q: " link ", state: "violated", subject: "vf", own: "yes", x: 1 })).toEqual({
      q: "link",
      state: "violated",
      subject: "vf",
      own: "yes",
    });
    expect(parsePolicyFilters({ q: " ", state: "sad", own: "maybe" })).toEqual({});
    expect([
      parsePolicySearch({ violation: "" }),
      parsePolicySearch({ violation: "v" }),
      parseEditorSearch({ copy: "c" }),
      parseEditorSearch({}),
    ]).toEqual([{}, { violation: "v" }, { copy: "c" }, {}]);
  });

  it("shows first what needs a look", () => {
    const all = [
      policy({ id: "quiet" }),
      policy({ id: "off", state: "off" }),
      policy({ id: "some", state: "violated", violations_1h: 1 }),
      policy({ id: "many", state: "violated", violations_1h: 9 }),
    ];
    expect(matching(all, {}).map(({ id }) => id)).toEqual(["many", "some", "quiet", "off"]);
  });

  it("finds words in names, formulas and what a policy indicates", () => {
    const all = [
      policy({ id: "link", title: "PCIe link", formula: "G !LOST", symptoms: ["S7"] }),
      policy({ id: "mine", own: true, state: "off" }),
    ];
    expect(matching(all, { q: "s7 lost" }).map(({ id }) => id)).toEqual(["link"]);
    expect(matching(all, { own: "yes" }).map(({ id }) => id)).toEqual(["mine"]);
    expect(matching(all, { state: "off", subject: "vf" })).toEqual([]);
  });
});
