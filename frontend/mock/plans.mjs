/** Mask plans for the mock server: a new one is read, planned and proven within seconds; two were there before. */
import { seeded } from "./fleet.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const READ_MS = 1_500;
const PLAN_MS = 3_000;

function chain(count, seed) {
  const random = seeded(seed);
  const before = Array.from({ length: count }, (_, position) => {
    const length_bits = 96 + Math.floor(random() * 12) * 8;
    const packets_60s = position > count * 0.55 ? Math.round(random() * 4_000_000) : Math.round(random() * 60_000);
    return {
      position,
      mask: `recirc_id, in_port, eth_type, ipv4.src/${8 + (position % 17)}, ipv4.dst/${16 + (position % 9)}, ipv4.proto, udp.dst`,
      length_bits,
      flows: 20 + Math.floor(random() * 900),
      packets_60s,
      score: packets_60s * length_bits,
      hyper: false,
      moved: false,
    };
  });
  const removed = before.filter((_, i) => i === 2 || i === 7);
  const kept = before.filter((mask) => !removed.includes(mask)).sort((a, b) => b.score - a.score);
  const hyper = {
    position: 0,
    mask: "recirc_id, in_port, eth.src, eth.dst, eth_type, ipv4.src, ipv4.dst, ipv4.proto, ipv4.tos, udp.src, udp.dst",
    length_bits: 304,
    flows: 2_140,
    packets_60s: 21_400_000,
    score: 21_400_000 * 304,
    hyper: true,
    moved: false,
  };
  const after = [hyper, ...kept.map((mask) => ({ ...mask, moved: true }))].map((mask, position) => ({
    ...mask,
    position,
  }));
  return { queries_before: 12.4, queries_after: 1.3, before, after, removed };
}

const EXAMPLE = {
  packet: {
    recirc_id: "0",
    in_port: "3",
    eth_type: "0x0800",
    "ipv4.src": "10.4.0.17",
    "ipv4.dst": "10.8.1.2",
    "ipv4.proto": "17",
    "udp.dst": "4791",
  },
  before: {
    actions: "set(tunnel(tun_id=0x64,dst=192.168.0.7)),5",
    flow: { line: 812, ufid: "ufid:3f0c…", match: "recirc_id(0),in_port(3),…" },
  },
  after: { actions: "drop", flow: { line: 96, ufid: "ufid:91aa…", match: "recirc_id(0),in_port(3),…" } },
  order: "first match",
  assumes: ["the flow of line 96 is tried first once its mask is ahead"],
};

function report(proven) {
  return {
    profile: "CX-6",
    flows: 7_614,
    offered: proven,
    worthwhile: true,
    expected: {
      before: { q_l: 12.4, q_r: 5.1, bandwidth_gbps: 61.2, latency_us: 9.8 },
      after: { q_l: 1.3, q_r: 1.9, bandwidth_gbps: 84.7, latency_us: 6.9 },
      low: { q_l: 3.4, q_r: 2.6, bandwidth_gbps: 78.1, latency_us: 7.6 },
      high: { q_l: 0.9, q_r: 1.7, bandwidth_gbps: 86.2, latency_us: 6.7 },
      bandwidth_gain: 0.384,
      latency_gain: 0.296,
    },
    cost: {
      operations: 3_466,
      insertions: 2_804,
      duration_s: 6.9,
      pace_per_s: 500,
      flows_in_software: 212,
      longest_in_software_s: 1.4,
      packets_in_software: 38_200,
    },
    hyper: { capacity: 7_200, used: 2_140, masks: [] },
    entries_after: 9_754,
    left_to_software: 61,
    released: 384,
    traffic: "packets of the last minute",
    chains: { egress: chain(21, 3), ingress: chain(9, 4) },
    steps: { activate: 2_140, remove: 61, move: 1_265 },
    proof: {
      equivalent: proven,
      verdict: proven ? "equivalent" : "different",
      reason: proven ? "" : "a drop rule would come ahead of the flows that it overlaps",
      counterexample: proven ? null : EXAMPLE,
      flows_before: 7_614,
      flows_after: 9_754,
      masks_before: 30,
      masks_after: 30,
      contested_pairs: 1_204,
      regions_searched: 3_911,
      opaque_fields: [],
      took_ms: 640,
    },
  };
}

export class Plans {
  constructor(fleet, kind) {
    this.orders = new Map();
    this.all = [];
    if (kind === "empty" || fleet.host.length === 0) return;
    const i = Math.max(
      0,
      fleet.symptoms.findIndex((s) => s.includes("S6")),
    );
    const where = { host: fleet.host[i], pci: fleet.pci[i], incident_id: ID(12) };
    this.all.push({ ...where, id: ID(601), at: Date.now() - 5_400_000, proven: false });
    this.all.push({
      ...where,
      id: ID(602),
      at: Date.now() - 3_000_000,
      proven: true,
      applied: Date.now() - 2_900_000,
      remedy: ID(950),
    });
    this.all.push({ ...where, id: ID(603), at: Date.now() - 40_000, proven: true });
  }

  create(body) {
    const plan = {
      host: body.host,
      pci: body.pci,
      incident_id: body.incident_id ?? null,
      id: ID(610 + this.all.length),
      at: Date.now(),
      proven: true,
    };
    this.all.push(plan);
    return this.shown(plan);
  }

  /** A requested `apply-mask-plan` uses its plan up. */
  requested(order, id) {
    const plan = this.all.find((each) => each.id === order.params?.plan);
    if (plan && order.mode === "apply") Object.assign(plan, { applied: Date.now(), remedy: id });
  }

  list(q) {
    return [...this.all]
      .reverse()
      .filter((each) => (!q.get("host") || each.host === q.get("host")) && (!q.get("pci") || each.pci === q.get("pci")))
      .map((each) => this.shown(each));
  }

  get(id) {
    const plan = this.all.find((each) => each.id === id);
    return plan ? this.shown(plan) : null;
  }

  shown(plan) {
    const age = Date.now() - plan.at;
    const state = age < READ_MS ? "reading" : age < PLAN_MS ? "planning" : plan.proven ? "ready" : "not_proven";
    const ended = state === "ready" || state === "not_proven";
    const whole = ended ? report(plan.proven) : null;
    const since = plan.applied ? Date.now() - plan.applied : null;
    const iso = (ms) => new Date(ms).toISOString();
    const old = age > 900_000 && plan.proven && !plan.applied;
    return {
      id: plan.id,
      host: plan.host,
      pci: plan.pci,
      model: "CX-6",
      state,
      offered: state === "ready" && !plan.applied && !old,
      worthwhile: ended && plan.proven,
      trigger: "manual",
      then: "nothing",
      requested_by: "admin",
      incident_id: plan.incident_id,
      created_at: iso(plan.at),
      updated_at: iso(Date.now()),
      flows_at: ended ? iso(plan.at + 900) : null,
      expires_at: ended ? iso(plan.at + 900_000) : null,
      code: plan.proven ? null : "plan_not_proven",
      message: state === "not_proven" ? "A packet from 10.4.0.17 to 10.8.1.2 would be dropped." : null,
      bandwidth_gain: whole?.expected.bandwidth_gain ?? null,
      latency_gain: whole?.expected.latency_gain ?? null,
      applied_by: plan.remedy ?? null,
      ports: [{ number: "3", name: "enp59s0f0npf0vf3" }],
      flows_sha256: null,
      operations_sha256: null,
      report: whole,
      remedies: plan.remedy ? [plan.remedy] : [],
      progress:
        since === null
          ? null
          : { operation: "apply", done: Math.min(3_466, Math.round(since / 2)), total: 3_466, at: iso(Date.now()) },
      check:
        since === null
          ? null
          : since < 7_000
            ? { state: "waiting", operation: "apply", at: iso(Date.now()), message: "" }
            : {
                state: "equivalent",
                operation: "apply",
                at: iso(plan.applied + 8_000),
                message: "Of 9,754 flows on the switch, 12 are new since.",
                counterexample: null,
              },
      outcome:
        since === null || since < 9_000
          ? null
          : {
              since: iso(plan.applied + 7_000),
              until: iso(Date.now()),
              q_l: { before: 12.1, expected: 1.3, measured: 1.5 },
              q_r: { before: 5.0, expected: 1.9, measured: 2.2 },
              bandwidth_gbps: { before: 58.9, expected: 84.7, measured: 82.3 },
            },
    };
  }
}

export const PLAN_ACTION = {
  action: "apply-mask-plan",
  title: "Apply a mask plan",
  description: "Puts the match masks that have the traffic in front; no packet is treated otherwise, which was proven.",
  scope: "rnic",
  params: ["pci", "plan", "operations_sha256"].map((name) => ({
    name,
    label: name,
    type: "text",
    unit: null,
    minimum: null,
    maximum: null,
    max_length: 64,
    pattern: null,
    required: true,
    meaning: "",
  })),
  at_least_one: [],
  risk: "medium",
  risk_text: "Flows of the masks that are moved pass through software for the time that the plan states.",
  needs_approval: false,
  reversible: true,
  privileges: "access to the control socket of ovs-vswitchd",
  operations: "unixctl of ovs-vswitchd: dpctl/add-flow and dpctl/del-flow, paced",
  undo: "Removes the plan's exact entries and puts the masks back in the order before.",
  change: {
    signal: "in_force",
    label: "Read back by the agent",
    unit: "none",
    expected: "= 1",
    within_s: 30,
    for_s: 0,
    text: "The agent has read the setting back.",
  },
  cures: [
    {
      symptom: "S6",
      signal: "planned_fall_share",
      label: "Share of the predicted reduction in mask lookups",
      unit: "none",
      expected: ">= 0.5",
      within_s: 180,
      for_s: 20,
      text: "Mean mask lookups per packet drop by at least half of the predicted reduction, and stay there.",
    },
  ],
  symptoms: [],
  disturbs: {
    symptoms: ["S1", "S4", "S5"],
    policies_of: ["flow"],
    settle_s: 80,
    why: "Flows with traffic are deleted and added again to move their masks, and pass through software meanwhile.",
  },
};
