import { describe, expect, it } from "vitest";
import type { NfCard, NfModel, PredictedFunction, RunningFunction } from "@/lib/api/types";
import { partsOf } from "./card/ThroughputBar";
import { functionOf, problemOf } from "./models/files";
import { HEADER, linesOfCards, parseCards, parseFunctions } from "./placement/input";
import {
  freeName,
  loadsOf,
  modelsFor,
  parseFunctionsSearch,
  parsePlanned,
  plannedOfCard,
  plannedText,
  requestOf,
  unpredicted,
} from "./scenario";
import { deviationText, doubt, lostText, slaState } from "./text";

const FOUND: PredictedFunction = {
  name: "a",
  function: "ids",
  version: 1,
  cores: 2,
  throughput_kpps: 750,
  low_kpps: 700,
  high_kpps: 800,
  solo_kpps: 1000,
  measured_kpps: null,
  offered_kpps: null,
  deviation: null,
  drop: 0.25,
  worst_drop: 0.3,
  sla_drop: null,
  sla_value: 0.25,
  headroom: null,
  lost_memory_kpps: 50,
  lost_accelerator_kpps: 200,
  bottleneck: "accelerator",
  binding: "accelerator",
  shifts_at_mtbr: 400,
  contributors: [],
  outside: [],
  unknown_competitors: [],
};

const RUNNING: RunningFunction = {
  name: "net/ids-0",
  function: "ids",
  container: "c",
  pod: "net/ids-0",
  at: "2026-01-01T00:00:00Z",
  cores: 2,
  cpu_share: 0.9,
  flows: 4000,
  packet_bytes: 900,
  mtbr: 600,
  counters: null,
  throughput_kpps: 500,
  offered_kpps: 600,
  saturated: true,
  host_limits: null,
};

const card = (...functions: RunningFunction[]): NfCard => ({
  host: "h",
  pci: "0000:03:00.0",
  model: "BF-2",
  fw_ver: "1",
  cores_used: 2,
  functions,
});

describe("the plan in the URL", () => {
  it("is the same after writing and reading", () => {
    const planned = [{ name: "net/fw-0", function: "firewall", flows: 8000, packetBytes: 512, mtbr: 12.5 }];
    expect(parsePlanned(plannedText(planned))).toEqual(planned);
  });

  it.each([
    ["", 0],
    ["-", 0],
    ["a~ids~x~y~z", 1],
    ["a~ids~1,a~nat~1", 1],
    ["<b>~ids~1", 0],
    [Array.from({ length: 40 }, (_, i) => `f${i}~ids~1`).join(","), 16],
  ])("keeps what can be read of %j", (on, count) => {
    expect(parsePlanned(on)).toHaveLength(count);
  });

  it("replaces values that are no traffic by the usual ones", () => {
    expect(parsePlanned("a~ids~-5~1e9~nan")).toEqual([
      { name: "a", function: "ids", flows: 1000, packetBytes: 1518, mtbr: 0 },
    ]);
  });

  it("ignores unknown and impossible parameters", () => {
    expect(parseFunctionsSearch({ cores: "0", model: " BF-3 ", x: "1", on: "" })).toEqual({ model: "BF-3" });
  });

  it("finds a name that is free", () => {
    expect(freeName("ids", parsePlanned("ids~ids~1,ids-2~ids~1"))).toBe("ids-3");
  });
});

describe("a measured card", () => {
  const known = new Set(["ids"]);
  const counters = {
    ipc: 1,
    instructions: 1,
    l2_reads: 1,
    l2_writes: 1,
    memory_reads: 1,
    memory_writes: 1,
    working_set_mb: 1,
  };

  it("is predicted where flows and a model are known, and says what is not", () => {
    const found = card(
      RUNNING,
      { ...RUNNING, name: "b", flows: null },
      { ...RUNNING, name: "c", function: "dedup", counters },
    );
    expect(plannedOfCard(found, known).map(({ name }) => name)).toEqual(["net/ids-0"]);
    expect(unpredicted(found, known)).toEqual([
      "b: its number of flows is unknown, and its load on the others is unknown",
      "c: no active model of dedup for this card",
    ]);
    expect(loadsOf(found, known).map(({ name }) => name)).toEqual(["c"]);
  });

  it("is compared with its measurement only while the traffic is the measured one", () => {
    const [planned] = plannedOfCard(card(RUNNING), known);
    if (!planned) throw new Error("nothing planned");
    const options = { model: "BF-2", fw: "1", cores: 8 };
    const same = requestOf(options, [planned], null, [RUNNING]).residents[0];
    const other = requestOf(options, [{ ...planned, flows: 1 }], null, [RUNNING]).residents[0];
    expect([same?.measured_kpps, other?.measured_kpps]).toEqual([500, null]);
  });

  it("gives a candidate a name of its own", () => {
    const planned = parsePlanned("ids~ids~1");
    const request = requestOf({ model: "m", fw: "", cores: 8 }, planned, planned[0] ?? null);
    expect(request.candidate?.name).toBe("ids-2");
  });

  it("becomes lines of a batch", () => {
    const lines = linesOfCards([card({ ...RUNNING, mtbr: 599.9998231 })]);
    expect(lines.functions).toContain(", 900, 600, 1, ");
    expect(parseFunctions(lines.functions)[0]).toMatchObject({
      name: "net/ids-0",
      flows: 4000,
      card: "h 0000:03:00.0",
    });
    expect(parseCards(lines.cards, 8)).toEqual([{ name: "h 0000:03:00.0", host: "h", cores: 8 }]);
  });
});

describe("models of a card", () => {
  const model = (fn: string, firmware: string, active: number | null): NfModel => ({
    function: fn,
    nic_model: "BF-2",
    firmware,
    active,
    terms: { cores: 2, sla_drop: null },
    versions: [],
  });

  it("are those of the firmware before those of all firmwares", () => {
    const models = [model("ids", "", 1), model("ids", "24", 2), model("nat", "", 1), model("acl", "", null)];
    expect(modelsFor(models, "BF-2", "24").map((each) => [each.function, each.firmware])).toEqual([
      ["ids", "24"],
      ["nat", ""],
    ]);
    expect(modelsFor(models, "BF-2", "25")[0]?.firmware).toBe("");
    expect(modelsFor(models, "BF-3", "24")).toEqual([]);
  });
});

describe("words", () => {
  it.each([
    [{ sla_drop: null, headroom: null }, "quiet", "no SLA"],
    [{ sla_drop: 0.5, headroom: 0.5 }, "good", "50% left of at most −50%"],
    [{ sla_drop: 0.27, headroom: 0.08 }, "warn", "8.0% left of at most −27%"],
    [{ sla_drop: 0.2, headroom: -0.25 }, "bad", "broken: −25% of at most −20%"],
  ])("say what is left of an SLA: %j", (more, tone, text) => {
    expect(slaState({ ...FOUND, ...more })).toEqual({ tone, text });
  });

  it("say what is lost, what is doubtful and what was measured", () => {
    expect(lostText(FOUND)).toBe("−25%, accelerator");
    expect(lostText({ ...FOUND, bottleneck: null })).toBe("nothing lost");
    expect(doubt(FOUND)).toBeUndefined();
    expect(doubt({ ...FOUND, outside: ["packet_bytes"], unknown_competitors: ["b"] })).toMatch(
      /load of b.*packet size/,
    );
    expect(deviationText({ ...FOUND, deviation: -0.12 })).toBe("−12% of predicted");
    const idle = { ...FOUND, throughput_kpps: 500, offered_kpps: 300, measured_kpps: 299, deviation: -0.003 };
    expect(deviationText(idle)).toBe("all that arrives");
    expect(deviationText({ ...idle, offered_kpps: 600 })).toBe("−0.3% of predicted");
  });

  it("divide the solo throughput into parts that add up", () => {
    expect(partsOf(FOUND)).toEqual({ kept: 75, memory: 5, accelerator: 20 });
  });
});

describe("input", () => {
  it.each([
    [[{ name: "x", text: "" }], /must contain one of/],
    [[{ name: "a_reg_train", text: "" }], /memory profile \(mem_train/],
    [["a_mem_train", "b_mem_train"].map((name) => ({ name, text: "" })), /Two files are a memory profile/],
    [[{ name: "a_mem_train", text: "x".repeat(200_001) }], /at most 200000/],
  ])("of profiles is checked before it is sent", (files, said) => {
    expect(problemOf(files)).toMatch(said);
  });

  it("of profiles names the function", () => {
    const files = [{ name: "ids_mem_train", text: "1" }];
    expect(problemOf(files)).toBeUndefined();
    expect(functionOf(files)).toBe("ids");
  });

  it.each([
    ["", /at least one function/],
    ["a, ids, 0", /Line 1: flows must be a number/],
    ["a, , 10", /name and function are required/],
    ["name, function, colour", /Unknown column “colour”/],
    [`a, ids, 10${", 1".repeat(9)}`, /12 values for 8 columns/],
  ])("of a batch %j is refused with the line", (text, said) => {
    expect(() => parseFunctions(text)).toThrow(said);
  });

  it("of a batch may have its columns in another order", () => {
    expect(parseFunctions("flows;name;function\n10;a;ids")).toMatchObject([
      { name: "a", function: "ids", flows: 10, count: 1 },
    ]);
    expect(parseFunctions(`${HEADER}\n\na, ids, 10, 64, 5, 3, 0.1, c 1`)[0]).toMatchObject({
      count: 3,
      sla_drop: 0.1,
      card: "c 1",
    });
  });
});
