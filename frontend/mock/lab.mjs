/** The lab for the mock server: devices, campaigns in every state, one of which runs by the clock. */
import { page } from "./answers.mjs";
import { seeded } from "./fleet.mjs";
import { LabRules } from "./labRules.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const iso = (ms) => new Date(ms).toISOString();
const TEST_MS = 700;

const integer = (name, component, low, high, unit, dimension, causes) => ({
  name,
  kind: "integer",
  component,
  unit,
  low,
  high,
  values: [],
  dimension,
  causes,
});
const choice = (name, component, values, dimension, causes, kind = "choice") => ({
  name,
  kind,
  component,
  unit: "",
  low: null,
  high: null,
  values,
  dimension,
  causes,
});

const PARAMETERS = [
  integer("egress_masks", "Mask table", 1, 64, "masks", "masks", ["C6"]),
  integer("ingress_masks", "Mask table", 1, 64, "masks", "masks", ["C6"]),
  integer("flows", "Flow table", 1, 16000, "flows", "flows", ["C1", "C4", "C5"]),
  choice("counter_mode", "Counters", ["per_flow", "shared", "off"], "counter_mode", ["C1", "C5"]),
  integer("counter_interval_s", "Counters", 1, 60, "s", "counter_interval", ["C5"]),
  integer("insertion_rate", "Driver", 1, 2000, "flows/s", "insertion_rate", ["C2"]),
  integer("contexts", "Encapsulation buffer", 0, 20000, "contexts", "contexts", ["C8"]),
  choice("tunnel", "Encapsulation buffer", ["none", "vxlan", "geneve"], "tunnel", ["C8"]),
  choice("verb", "Traffic", ["send", "write", "read"], "verb", ["C6"]),
  choice("jumbo", "Traffic", [], null, [], "boolean"),
  choice("teardown_order", "Virtual functions", ["unbind", "free", "close"], "teardown_order", ["C7"], "sequence"),
];

const DEFAULT = {
  egress_masks: 1,
  ingress_masks: 1,
  flows: 100,
  counter_mode: "per_flow",
  counter_interval_s: 1,
  insertion_rate: 10,
  contexts: 0,
  tunnel: "none",
  verb: "read",
  jumbo: false,
  teardown_order: ["free", "unbind", "close"],
};
const BRUTE_FORCE = String(5 ** 6 * 3 * 3 * 3 * 2 * 6);

const DEVICES = [
  {
    name: "Simulated CX-6",
    description: "A simulated ConnectX-6 with Open vSwitch offload",
    model: "CX-6",
    host: null,
    pci: null,
    available: true,
    problem: null,
    parameters: PARAMETERS,
    metrics: [
      { name: "bw_gbps", unit: "Gbit/s", better: "higher" },
      { name: "latency_us", unit: "us", better: "lower" },
    ],
    symptoms: ["S1", "S2", "S5", "S6", "S7", "S8"],
    has_topology: false,
    sequential: false,
    seconds_per_test: 0.7,
    brute_force_tests: BRUTE_FORCE,
  },
  {
    name: "BF-3 in rack 12",
    description: "",
    model: "BF-3",
    host: "host1",
    pci: "0000:3b:00.0",
    available: false,
    problem: "perftest is not installed on host1: ib_write_bw was not found",
    parameters: [],
    metrics: [],
    symptoms: [],
    has_topology: false,
    sequential: true,
    seconds_per_test: null,
    brute_force_tests: "1",
  },
];

const condition = (parameter, op, value, text) => ({
  parameter,
  op,
  value,
  expression: null,
  moved_by: [],
  thresholds: [],
  text,
});
const curve = (parameter, values, firstBad, from, to) => ({
  parameter,
  kind: "integer",
  points: values.map((value) => ({
    value,
    bad: value >= firstBad,
    metrics: { bw_gbps: value >= firstBad ? to - (value - firstBad) * 0.3 : from - value * 0.12 },
  })),
});

const noPolicy = (name, wall) =>
  `A policy speaks of events, not of measured values such as ${name}. Wallwatch watches it as a limit of the profile (${wall}): write the result into the profile.`;

const MASKS = {
  id: 1,
  symptom: "S6",
  metric: null,
  conditions: [
    condition("egress_masks", ">=", 24, "egress_masks is at least 24"),
    condition("verb", "in", ["send", "write"], "verb is send or write"),
  ],
  text: "S6 appears when egress_masks is at least 24 and verb is send or write.",
  proven: true,
  confidence: 0.992,
  components: ["Mask table", "Traffic"],
  recognised: { cause: "C6", label: "Masks are looked up one after another" },
  rule: null,
  no_rule: "The catalogue has this cause already: C6, Masks are looked up one after another.",
  policy: null,
  no_policy: noPolicy("egress_masks", "Egress masks"),
  thresholds: [{ parameter: "egress_masks", last_good: 23, first_bad: 24, step: 1, unit: "masks" }],
  permutation: [
    { parameter: "egress_masks", pairs: 8, held: 8, kept: true },
    { parameter: "verb", pairs: 8, held: 8, kept: true },
    { parameter: "flows", pairs: 5, held: 0, kept: false },
    { parameter: "jumbo", pairs: 5, held: 0, kept: false },
  ],
  verification: { inside: { agree: 10, of: 10 }, outside: { agree: 10, of: 10 } },
  sensitivity: [
    curve("egress_masks", [1, 8, 16, 20, 22, 23, 24, 28, 32, 48, 64], 24, 98, 61),
    {
      parameter: "verb",
      kind: "choice",
      points: [
        { value: "send", bad: true, metrics: { bw_gbps: 58 } },
        { value: "write", bad: true, metrics: { bw_gbps: 61 } },
        { value: "read", bad: false, metrics: { bw_gbps: 97.5 } },
      ],
    },
  ],
  effect: { bw_gbps: { good: 98.1, bad: 60.4, change: -0.384 } },
  recovers: false,
  failing: { ...DEFAULT, egress_masks: 24, verb: "write" },
  passing: { ...DEFAULT, egress_masks: 23, verb: "write" },
  reproducer: `S6 appears when egress_masks is at least 24 and verb is send or write.

Known cause: C6, Masks are looked up one after another

Device: Simulated CX-6
Found in 412 tests and resets, seed 1, confidence 99%
bw_gbps: 98.1 without the cause, 60.4 with it (-38%)
egress_masks: last good 23, first bad 24

Fails:
${JSON.stringify({ ...DEFAULT, egress_masks: 24, verb: "write" }, null, 2)}

Passes with only this changed: {"egress_masks": 23}
`,
  ticket_url: "https://tracker.example/new?summary=Simulated%20CX-6%3A%20S6",
};
const DECLINE = {
  ...MASKS,
  id: 2,
  symptom: null,
  metric: "bw_gbps",
  conditions: [
    {
      ...condition("flows", ">=", 7201, "flows is at least 7,201 (3,601 to 7,201, depending on verb)"),
      moved_by: ["verb"],
      thresholds: [
        { at: { verb: "send" }, value: 7201 },
        { at: { verb: "write" }, value: 7201 },
        { at: { verb: "read" }, value: 3601 },
      ],
    },
    condition("jumbo", "==", true, "jumbo is on"),
  ],
  text: "bw_gbps gets worse when flows is at least 7,201 (3,601 to 7,201, depending on verb) and jumbo is on.",
  proven: true,
  confidence: 0.961,
  components: ["Flow table", "Traffic"],
  recognised: null,
  rule: "rules:\n- title: State in which the lab saw a decline of bw_gbps\n",
  no_rule: null,
  no_policy: noPolicy("flows", "Offloaded flows"),
  thresholds: [{ parameter: "flows", last_good: 7200, first_bad: 7201, step: 1, unit: "flows" }],
  permutation: [
    { parameter: "flows", pairs: 8, held: 8, kept: true },
    { parameter: "jumbo", pairs: 9, held: 8, kept: true },
  ],
  verification: { inside: { agree: 10, of: 10 }, outside: { agree: 9, of: 10 } },
  sensitivity: [
    {
      parameter: "flows",
      kind: "integer",
      points: [1, 40, 400, 2000, 4000, 7200, 7201, 10000, 16000].map((value) => ({
        value,
        bad: value > 7200,
        metrics: { bw_gbps: value > 7200 ? 84 - value / 2000 : 98 },
      })),
    },
  ],
  effect: { bw_gbps: { good: 98.1, bad: 79.2, change: -0.193 } },
  recovers: null,
  failing: { ...DEFAULT, flows: 7201, jumbo: true },
  passing: { ...DEFAULT, flows: 7200, jumbo: true },
};

const REPORT = {
  device: "Simulated CX-6",
  description: "A simulated ConnectX-6",
  tests: 412,
  resets: 6,
  seconds: 288,
  strategy: "adaptive",
  seed: 1,
  budget: 1000,
  target: null,
  complete: true,
  stopped: null,
  strength: 2,
  varied: PARAMETERS.map(({ name }) => name),
  brute_force: { levels: 5, tests: BRUTE_FORCE },
  baseline: {
    healthy: true,
    tests: 5,
    metrics: {
      bw_gbps: { median: 98.1, scale: 0.4, unit: "Gbit/s", better: "higher" },
      latency_us: { median: 2.31, scale: 0.02, unit: "us", better: "lower" },
    },
  },
  noise: { flip_rate: 0.012, repeats: 84, sequential_decisions: true },
  memory: null,
  causes: [MASKS, DECLINE],
  models: [
    {
      metric: "bw_gbps",
      family: "rbf",
      parameters: ["egress_masks", "ingress_masks"],
      goodness: 0.931,
      leave_one_out: 0.914,
      coefficients: {},
    },
  ],
  phases: { baseline: 5, discover: 228, minimise: 46, threshold: 22, permute: 51, verify: 60 },
  next: [],
  notes: [
    "Sequences were covered in every ordered pair of events.",
    'Undecided: S5 also shows where no cause holds, for instance with {"counter_interval_s": 45, "counter_mode": "shared"}. Of 12 configurations in which the best conditions that were tried hold, only 5 fail, so they are not reported as a cause.',
  ],
};
const OPTIONS = {
  budget: 1000,
  max_time_s: 14400,
  target: null,
  seed: 1,
  strategy: "adaptive",
  parallel: 1,
  parameters: null,
};

const LAB_CATALOGUE = {
  dimensions: [
    ["masks", "Match masks", "Mask table", "masks", 1, 100],
    ["flows", "Offloaded flows", "Flow table", "flows", 1, 16000],
    ["insertion_rate", "Flow insertions", "Driver", "flows/s", 1, 2000],
    ["counter_interval", "Interval of the counters", "Counters", "s", 1, 60],
    ["contexts", "Encapsulation contexts", "Encapsulation buffer", "contexts", 0, 20000],
  ].map(([id, label, component, unit, low, high]) => ({
    id,
    label,
    component,
    unit,
    kind: "integer",
    safe: { low, high },
    adaptors: ["sim"],
    why: "",
  })),
  causes: [
    { cause: "C1", dimensions: ["flows", "counter_mode"] },
    { cause: "C2", dimensions: ["insertion_rate"] },
    { cause: "C5", dimensions: ["flows", "counter_mode", "counter_interval"] },
    { cause: "C6", dimensions: ["masks", "verb"] },
    { cause: "C8", dimensions: ["contexts", "tunnel"] },
  ],
};

function tests(count) {
  const random = seeded(5);
  return Array.from({ length: count }, (_, i) => {
    const bad = i > 8 && random() < 0.2;
    const masks = bad ? 24 + Math.floor(random() * 40) : 1 + Math.floor(random() * 22);
    return {
      line: i + 1,
      kind: i % 60 === 59 ? "reset" : "test",
      n: i + 1,
      phase: i < 5 ? "baseline" : i < 200 ? "discover" : "verify",
      status: i === 40 ? "error" : "ok",
      attempt: 1,
      config: i % 60 === 59 ? {} : { ...DEFAULT, egress_masks: masks, verb: bad ? "write" : "read" },
      symptoms: bad && i % 60 !== 59 && i !== 40 ? ["S6"] : [],
      metrics: i % 60 === 59 || i === 40 ? {} : { bw_gbps: bad ? 60.3 : 98.2, latency_us: 2.3 },
      reason: i === 40 ? "The device ended; it was started again." : null,
      seconds: 0.7,
    };
  });
}

export class Lab {
  constructor(kind) {
    this.kind = kind;
    const now = Date.now();
    const hour = 3_600_000;
    this.all = kind === "empty" ? [] : [this.campaign(801, "running", now - 90_000), ...this.past(now, hour)];
    const rules = new LabRules(kind);
    this.reads = [
      ...rules.reads,
      [/^\/lab\/catalogue$/, () => LAB_CATALOGUE],
      [/^\/lab\/devices$/, () => ({ items: this.devices(), run_role: "operator" })],
      [/^\/lab\/campaigns$/, (_, q) => page(this.list(q))],
      [/^\/lab\/campaigns\/([^/]+)$/, ([, id]) => this.get(id)],
      [/^\/lab\/campaigns\/([^/]+)\/tests$/, ([, id], q) => (this.get(id) ? this.tests(id, q) : null)],
    ];
    this.writes = [
      ...rules.writes,
      ["POST", /^\/lab\/campaigns$/, (_, body) => this.create(body)],
      ["POST", /^\/lab\/campaigns\/([^/]+)\/stop$/, ([, id]) => this.stop(id)],
      ["POST", /^\/lab\/stop$/, () => ({ stopped: this.all.map(({ id }) => this.stop(id)).length })],
      ["POST", /^\/lab\/campaigns\/([^/]+)\/attach$/, ([, id]) => ({ incident_id: ID(1), text: `Found by ${id}` })],
      [
        "POST",
        /^\/lab\/campaigns\/([^/]+)\/profile$/,
        () => ({ model: "CX-6", number: 4, limits: { egress_masks: 23 } }),
      ],
    ];
  }

  past(now, hour) {
    const ended = (n, state, hoursAgo, more) => ({ ...this.campaign(n, state, now - hoursAgo * hour), ...more });
    return [
      ended(802, "finished", 2, { report: REPORT, incident_id: ID(1), tests: 412 }),
      ended(803, "stopped", 5, {
        tests: 87,
        message: "Stopped by dana.",
        report: {
          ...REPORT,
          tests: 87,
          resets: 0,
          complete: false,
          stopped: "stopped",
          strength: 1,
          causes: [{ ...MASKS, verification: null, sensitivity: [] }],
          models: [],
          next: [
            "verify cause 1 on 20 fresh configurations",
            "go on with pairs of parameters: 214 of 312 are not covered",
          ],
        },
      }),
      ended(804, "finished", 26, {
        tests: 231,
        options: { ...OPTIONS, parameters: ["contexts", "tunnel"], target: "S8" },
        report: { ...REPORT, tests: 231, causes: [], strength: 3, models: [], notes: [] },
      }),
      ended(805, "failed", 28, {
        tests: 0,
        message: "The device failed: it closed its output before it answered describe (exit status 2).",
      }),
    ];
  }

  campaign(n, state, at) {
    return {
      id: ID(n),
      device: "Simulated CX-6",
      state,
      options: OPTIONS,
      requested_by: "admin",
      at,
      incident_id: null,
      message: null,
      report: null,
      tests: null,
    };
  }

  devices() {
    const may = { run_role: "operator", needs_approval: false };
    return this.kind === "empty"
      ? []
      : DEVICES.map((device) => ({ ...device, ...may, seen_at: iso(Date.now() - 4_000) }));
  }

  progressOf(campaign) {
    const since = Date.now() - campaign.at;
    const count = campaign.tests ?? Math.min(campaign.options.budget, Math.floor(since / TEST_MS));
    const phases = campaign.report?.phases ?? (count > 5 ? { baseline: 5, discover: count - 5 } : {});
    return {
      tests: count,
      resets: Math.floor(count / 60),
      bad: Math.floor(count / 7),
      errors: count > 40 ? 1 : 0,
      phase: campaign.state === "running" ? "discover" : null,
      phases,
      seconds: (count * TEST_MS) / 1000,
      most_seconds_left: campaign.state === "running" ? ((campaign.options.budget - count) * TEST_MS) / 1000 : null,
    };
  }

  shown(campaign) {
    const { at, report, ...rest } = campaign;
    delete rest.tests;
    const over = !["queued", "running"].includes(rest.state);
    return {
      ...rest,
      decided_by: null,
      decided_at: null,
      decision_comment: null,
      created_at: iso(at),
      updated_at: iso(Date.now()),
      started_at: iso(at + 400),
      ended_at: over ? iso(at + 300_000) : null,
      stopping: false,
      silent: false,
      progress: this.progressOf(campaign),
      brute_force_tests: BRUTE_FORCE,
      causes: report?.causes.length ?? null,
      complete: report?.complete ?? null,
    };
  }

  list(query) {
    const device = query.get("device");
    return this.all.filter((each) => !device || each.device === device).map((each) => this.shown(each));
  }

  get(id) {
    const campaign = this.all.find((each) => each.id === id);
    if (!campaign) return null;
    return { ...this.shown(campaign), runner: "runner-1", report: campaign.report, report_problem: null };
  }

  tests(id, query) {
    const campaign = this.all.find((each) => each.id === id);
    const all = tests(Math.min(100, this.progressOf(campaign).tests));
    return page(query.get("bad") === "true" ? all.filter(({ symptoms }) => symptoms.length > 0) : all);
  }

  create(body) {
    const { device, incident_id = null, ...options } = body;
    const campaign = this.campaign(810 + this.all.length, "running", Date.now());
    this.all.unshift({ ...campaign, device, incident_id, options: { ...OPTIONS, ...options } });
    return this.get(campaign.id);
  }

  stop(id) {
    const campaign = this.all.find((each) => each.id === id);
    if (campaign && campaign.state === "running") {
      campaign.tests = this.progressOf(campaign).tests;
      campaign.state = "stopped";
      campaign.message = "Stopped by admin.";
    }
    return this.get(id);
  }
}
