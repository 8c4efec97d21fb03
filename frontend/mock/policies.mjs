/** Policies for the mock server: one that holds, one that is violated, with its trace. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

const VOCABULARY = {
  subjects: { flow: "a flow", vf: "a virtual function", rnic: "an RNIC", host: "a host" },
  kinds: [
    { kind: "packet", label: "Packet of the flow", source: "ovs", subjects: ["flow"], stays_on_host: true, when: {} },
    { kind: "delete", label: "Flow deleted", source: "ovs", subjects: ["flow"], stays_on_host: false, when: {} },
  ],
};

const DEFINITION = {
  formula: "G (packet -> (!delete U idle))",
  subject: "flow",
  propositions: { packet: { kind: ["packet"] }, delete: { kind: ["delete"] } },
  timer: { name: "idle", after: "packet", unless: null, seconds: 10 },
  title: "Active flows keep their entry",
  severity: "warning",
  symptoms: ["S1"],
  causes: ["C1"],
  violation: "A flow was deleted {age} s after its last packet.",
  note: null,
};

function policy(id, title, state, violations) {
  return {
    id,
    title,
    own: false,
    lifecycle: "enabled",
    has_draft: false,
    running: 1,
    subject: "flow",
    where: "edge",
    formula: DEFINITION.formula,
    severity: "warning",
    symptoms: ["S1"],
    causes: ["C1"],
    state,
    subjects: 7_614,
    unknown: 41,
    coverage: 0.994,
    hosts: 8,
    violations_1h: violations,
    violations_24h: violations * 3,
    inhibited_24h: 0,
    recent: Array.from({ length: 24 }, (_, hour) => (hour > 20 ? violations : 0)),
    last_violation_at: violations > 0 ? ago(300) : null,
    heard_at: ago(4),
  };
}

export class Policies {
  constructor(fleet, kind) {
    this.fleet = fleet;
    this.all =
      kind === "empty"
        ? []
        : [
            policy("active-flow-keeps-entry", DEFINITION.title, "violated", 12),
            policy("deleted-flow-stays-deleted", "A deleted flow stays deleted", "holding", 0),
          ];
  }

  vocabulary() {
    return VOCABULARY;
  }

  list() {
    return { items: this.all, next_cursor: null };
  }

  get(id) {
    const found = this.all.find((each) => each.id === id);
    return found
      ? {
          ...found,
          version: 1,
          definition: { ...DEFINITION, title: found.title },
          draft: null,
          versions: [],
          history: [],
          source: "catalogue/policies.yaml",
          agents_running: 8,
          agents_expected: 8,
        }
      : null;
  }

  series(id, q) {
    const found = this.all.find((each) => each.id === id);
    if (!found) return null;
    const times = Array.from({ length: 30 }, (_, i) => ago((30 - i) * 60));
    const states = times.map((_, i) => (found.state === "violated" && i > 24 ? "violated" : "holding"));
    const violations = states.map((state) => (state === "violated" ? 3 : 0));
    return { from: q.get("from"), to: q.get("to"), step_s: 60, times, states, violations };
  }

  violations(id) {
    const found = this.all.find((each) => each.id === id);
    if (!found) return null;
    return { items: found.violations_1h > 0 ? [this.violation(found.id)] : [], next_cursor: null };
  }

  violation(id) {
    const step = (n, propositions, text, state, verdict) => ({
      at: ago(312 - n),
      host: this.fleet.host[0],
      kinds: propositions,
      propositions,
      text,
      state,
      verdict,
    });
    return {
      id: ID(980),
      policy: id,
      at: ago(300),
      host: this.fleet.host[0],
      pci: this.fleet.pci[0],
      subject: "10.4.0.17 to 10.8.1.2, UDP 49017 to 4791",
      severity: "warning",
      text: "A flow was deleted 1.2 s after its last packet.",
      inhibited_by: null,
      revision: "0".repeat(12),
      version: 1,
      left_out: 2,
      cut: false,
      start: 0,
      trace: [
        step(0, ["packet"], "packet", 1, "?"),
        step(9, ["packet"], "packet", 1, "?"),
        step(10, ["delete"], "deleted by the revalidator", 2, "F"),
      ],
    };
  }

  delivery() {
    const none = this.all.length === 0;
    return {
      hash: "0".repeat(64),
      policies: this.all.length,
      bytes: none ? 0 : 2_048,
      agents: none ? 0 : 8,
      takes: none ? 0 : 8,
      connected: none ? 0 : 8,
      applied: none ? 0 : 8,
      refused: 0,
      tables: [],
      refusals: [],
      left_out: [],
    };
  }
}
