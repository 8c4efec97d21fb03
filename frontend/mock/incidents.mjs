/** Incidents of the mock: a list that is kept, filtered, counted and changed in memory, as the API does it. */
import { USERS } from "./answers.mjs";
import { seeded } from "./fleet.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

/** The remedy that runs on an RNIC and has brought an incident about. */
export const PLAN_REMEDY = ID(70);

const KINDS = [
  [
    "S1",
    "C5",
    "flows",
    "Flows of live traffic are offloaded again and again",
    "41% of the flows inserted in the last minute had been deleted while their packets still came; 8,064 flows are offloaded, the wall is at 7,200.",
  ],
  [
    "S6",
    "C6",
    "rnic",
    "Flows deep in the mask chain are slow",
    "A packet needs 14 mask lookups on average; 21 egress masks are looked up one after another.",
  ],
  [
    "S4",
    "C4",
    "rnic",
    "Deleting flows takes nine times as long as usual",
    "A deletion takes 41 ms; this RNIC's own baseline is 4.6 ms.",
  ],
  [
    "S2",
    "C2",
    "host",
    "Commands of the driver time out",
    "The kernel logged 6 command time-outs in a minute while flows were inserted at 97% of the wall.",
  ],
  [
    "S7",
    "C7",
    "host",
    "The PCIe link came back narrower",
    "The link of 0000:3b:00.0 came back at x4 four seconds after two virtual functions were unbound.",
  ],
  [
    "silent",
    null,
    "host",
    "The host's telemetry has stopped",
    "No sample came for 4 minutes while the rest of the fleet reports.",
  ],
  [
    "unexplained",
    null,
    "rnic",
    "Throughput fell and nothing known explains it",
    "Throughput is at 22% of its own recent past; none of the eight symptoms was found.",
  ],
  [
    "isolation",
    null,
    "rnic",
    "VF 2 (ads/indexer-0) breaks promises to 2 VFs by its packet rate",
    "VF 2 takes 78% of what the RNIC can process, its fair share is 21%; VF 0 and VF 3 lose packets inside their envelopes.",
  ],
];

/** Of a transport engine: no cause, and evidence from other hosts. */
const BEHAVIOUR = [
  "B4",
  null,
  "rnic",
  "Counter of sent notifications stands still",
  "2000 packets with an ECN mark arrived within a minute, and the counter of sent notifications stood still; the senders handled 80 notifications/s.",
];

function make(n, kind, where, changes = {}) {
  const [symptom, cause, blast_radius, title, summary] = kind;
  const opened = changes.opened ?? 400 + n * 37;
  const state = changes.state ?? "open";
  return {
    id: ID(n),
    host: where.host,
    pci: symptom === "silent" ? "" : where.pci,
    rack: where.rack,
    symptom,
    symptoms: changes.symptoms ?? [symptom],
    state,
    severity: changes.severity ?? "warning",
    blast_radius,
    title,
    summary,
    opened_at: ago(opened),
    updated_at: ago(Math.min(opened, 5 + n)),
    acknowledged_by: state === "acknowledged" ? "dana" : null,
    acknowledged_at: state === "acknowledged" ? ago(200) : null,
    resolved_by: state === "resolved" ? "wallwatch" : null,
    resolved_at: state === "resolved" ? ago(Math.max(30, opened - 700)) : null,
    reopened: state === "reopened" ? 1 : 0,
    active: changes.active ?? state !== "resolved",
    cleared_at: changes.over ? ago(changes.over) : state === "resolved" ? ago(Math.max(40, opened - 600)) : null,
    cause,
    top_cause: cause,
    scope: changes.scope ?? (blast_radius === "host" ? "host" : "rnic"),
    subject: changes.subject ?? (blast_radius === "host" ? where.host : `${where.host} ${where.pci}`),
    hosts: changes.hosts ?? [where.host],
    rnics: changes.rnics ?? (symptom === "silent" ? 0 : 1),
    model: symptom === "silent" ? null : (where.model ?? "CX-6"),
    fw_ver: symptom === "silent" ? null : "22.36.1010",
    assignee: changes.assignee ?? (state === "acknowledged" ? "dana" : null),
    external_refs: changes.refs ?? [],
    suppressed_by: state === "suppressed" && !changes.remedy ? ID(61) : null,
    inhibited_by: changes.remedy ?? null,
    merged_into: null,
    version: 1,
    seq: n,
  };
}

function few(fleet) {
  const at = (i) => ({
    host: fleet.host[i] ?? "host01",
    pci: fleet.pci[i] ?? "0000:3b:00.0",
    rack: fleet.rack[i] ?? "r1",
    model: fleet.model[i],
  });
  const sick = Math.max(
    0,
    fleet.symptoms.findIndex((s) => s.includes("S1")),
  );
  const [s1, s6, s4, s2, s7, silent, unexplained, isolation] = KINDS;
  return [
    make(20, silent, at(30), { severity: "critical", opened: 240 }),
    make(11, s1, at(sick), {
      severity: "critical",
      opened: 430,
      symptoms: ["S1", "S5"],
      refs: [{ system: "jira", key: "NET-4411", url: "https://tickets.example.org/NET-4411" }],
    }),
    make(14, s2, at(5), { severity: "critical", opened: 760, state: "reopened" }),
    make(15, s4, at(9), {
      opened: 1300,
      scope: "rack",
      subject: "r2",
      hosts: ["host05", "host06", "host07"],
      rnics: 5,
    }),
    make(16, s1, at(12), {
      opened: 1900,
      scope: "fleet",
      subject: "22.36.1010",
      hosts: ["host02", "host03", "host05", "host08"],
      rnics: 9,
      severity: "critical",
      state: "acknowledged",
      assignee: "admin",
    }),
    make(12, s6, at(19), { opened: 2600, state: "acknowledged" }),
    make(17, unexplained, at(22), { opened: 3000 }),
    make(24, BEHAVIOUR, at(26), { opened: 3300 }),
    make(23, isolation, at(0), { opened: 95 }),
    make(18, s7, at(3), { opened: 3600, active: false, over: 500, state: "acknowledged" }),
    make(19, s6, at(7), { opened: 5000, state: "suppressed" }),
    make(21, s1, at(19), { opened: 25, severity: "critical", state: "suppressed", remedy: PLAN_REMEDY }),
    make(13, s1, at(sick), { opened: 90_000, state: "resolved" }),
  ];
}

function many(fleet, count) {
  const random = seeded(5);
  return Array.from({ length: count }, (_, n) => {
    const i = Math.floor(random() * fleet.host.length);
    const where = { host: fleet.host[i], pci: fleet.pci[i], rack: fleet.rack[i], model: fleet.model[i] };
    return make(1000 + n, KINDS[Math.floor(random() * KINDS.length)], where, {
      opened: 20 + n * 3,
      severity: random() < 0.2 ? "critical" : "warning",
      state: random() < 0.1 ? "acknowledged" : "open",
    });
  });
}

const RANK = { critical: 1, warning: 0 };
/** Of accounts that can sign in. */
const NAMES = USERS.items.filter((user) => !user.disabled).map((user) => user.username);
const FACETS = ["state", "severity", "symptom", "cause", "scope"];
const ACTS = { acknowledge: "acknowledged", unacknowledge: "open", resolve: "resolved", reopen: "reopened" };

const TENANTS = ["ads", "ads, search", "search", ""];
/** The group of an incident, as the API forms it: where it belongs as a whole. */
function groupOf(i, by) {
  const ofOneHost = ["rnic", "host"].includes(i.scope);
  if (by === "host") return ofOneHost ? i.host : "";
  if (by === "rack") return i.scope === "fleet" ? "" : i.rack;
  if (by === "tenant") return ofOneHost ? TENANTS[Number(i.host.slice(-1)) % TENANTS.length] : "";
  return i[by] ?? "";
}

export class Incidents {
  constructor(fleet, kind) {
    this.fleet = fleet;
    this.all = kind === "empty" ? [] : kind === "large" ? many(fleet, 15_000) : few(fleet);
    this.seq = 100_000;
    this.entries = new Map();
  }

  matching(q, without) {
    const lists = { state: q.getAll("state"), symptom: q.getAll("symptom") };
    const text = (q.get("q") ?? "").toLowerCase();
    return this.all.filter(
      (i) =>
        (without === "state" || lists.state.length === 0 || lists.state.includes(i.state)) &&
        (without === "symptom" || lists.symptom.length === 0 || i.symptoms.some((s) => lists.symptom.includes(s))) &&
        ["severity", "cause", "scope"].every((name) => without === name || !q.get(name) || i[name] === q.get(name)) &&
        ["rack", "pci", "model", "fw_ver", "assignee", "suppressed_by", "inhibited_by"].every(
          (name) => !q.get(name) || i[name] === q.get(name),
        ) &&
        (!q.get("host") || i.hosts.includes(q.get("host"))) &&
        (!q.get("unassigned") || String(!NAMES.includes(i.assignee)) === q.get("unassigned")) &&
        (!q.get("group_by") || q.get("group") === null || groupOf(i, q.get("group_by")) === q.get("group")) &&
        (!q.get("active") || String(i.active) === q.get("active")) &&
        (!text || `${i.title} ${i.summary} ${i.subject} ${i.host} ${i.pci}`.toLowerCase().includes(text)),
    );
  }

  list(q) {
    const sort = q.get("sort") ?? "opened_at";
    const sign = q.get("order") === "asc" ? 1 : -1;
    const key = (i) => (sort === "severity" ? RANK[i.severity] : Date.parse(i[sort]));
    const found = this.matching(q).sort((a, b) => sign * (key(a) - key(b)));
    const from = Number(q.get("cursor") ?? 0);
    const limit = Number(q.get("limit") ?? 100);
    return {
      items: found.slice(from, from + limit),
      next_cursor: from + limit < found.length ? String(from + limit) : null,
    };
  }

  assignees(q) {
    return { items: NAMES.filter((name) => name.includes(q.get("q") ?? "")), more: false };
  }

  counts(q) {
    const by = {};
    for (const facet of FACETS) {
      by[facet] = {};
      for (const i of this.matching(q, facet))
        for (const value of facet === "symptom" ? i.symptoms : [i[facet]])
          if (value) by[facet][value] = (by[facet][value] ?? 0) + 1;
    }
    return { total: this.matching(q).length, by };
  }

  groups(q) {
    const found = new Map();
    for (const i of this.matching(q)) {
      const value = groupOf(i, q.get("by"));
      const group = found.get(value) ?? { value, incidents: 0, critical: 0, newest: i.opened_at };
      group.incidents += 1;
      group.critical += RANK[i.severity];
      if (i.opened_at > group.newest) group.newest = i.opened_at;
      found.set(value, group);
    }
    const items = [...found.values()].sort(
      (a, b) => b.critical - a.critical || b.incidents - a.incidents || (a.value < b.value ? -1 : 1),
    );
    const limit = Number(q.get("limit") ?? 200);
    return { items: items.slice(0, limit), more: items.length > limit };
  }

  changes(q) {
    const since = Number(q.get("since") ?? 0);
    const items = this.all.filter((i) => i.seq > since && i.seq >= 100_000).slice(0, 500);
    return { items, next_since: Math.max(since, ...items.map((i) => i.seq)) };
  }

  touch(i, changes, kind, text) {
    Object.assign(i, changes, { seq: ++this.seq, version: i.version + 1, updated_at: ago(0) });
    this.entries.set(i.id, [...(this.entries.get(i.id) ?? []), { at: ago(0), kind, actor: "admin", text, data: {} }]);
    return i;
  }

  act(i, action, more = {}) {
    if (action === "assign")
      return this.touch(
        i,
        { assignee: more.assignee ?? null },
        "assigned",
        more.assignee ? `Assigned to ${more.assignee}.` : "Nobody has it.",
      );
    if (action === "comment") return this.touch(i, {}, "comment", more.text);
    const state = ACTS[action];
    const by = {
      acknowledged_by: action === "acknowledge" ? "admin" : action === "unacknowledge" ? null : i.acknowledged_by,
      resolved_by: action === "resolve" ? "admin" : null,
      resolved_at: action === "resolve" ? ago(0) : null,
    };
    return this.touch(i, { state, ...by }, state, `${state} by admin.`);
  }

  bulk({ ids, filter, action, ...more }) {
    const q = new URLSearchParams();
    for (const [name, value] of Object.entries(filter ?? {}))
      for (const each of [value].flat()) if (each !== undefined && each !== null) q.append(name, String(each));
    const targets = ids ? this.all.filter((i) => ids.includes(i.id)) : this.matching(q);
    const skipped = targets
      .filter((i) => i.state === ACTS[action])
      .map((i) => ({ id: i.id, why: `is ${i.state} already` }));
    const done = targets.filter((i) => !skipped.some((each) => each.id === i.id));
    for (const i of done) this.act(i, action, more);
    return { changed: done.length, skipped };
  }

  find(id) {
    return this.all.find((i) => i.id === id) ?? null;
  }
}
