/** Network functions of the mock: three models, two measured cards, predictions by a rough formula of loads and queues. */
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const ID = (n) => `00000000-0000-4000-8000-${String(700 + n).padStart(12, "0")}`;

const range = (name, unit, low, high) => ({ name, unit, low, high });
const KNOWN = {
  firewall: { solo: 1310, loss: 0.07, load: 1, engine: null },
  ids: { solo: 770, loss: 0.06, load: 1.6, engine: { queues: 1, t0: 1.6e-4, a: 1.9e-6 } },
  nat: { solo: 1500, loss: 0.04, load: 1.2, engine: null },
};
const SLA = { firewall: 0.2, ids: 0.15, nat: null };

function version(fn, n, number, state, more = {}) {
  return {
    id: ID(n),
    number,
    state,
    pattern: "pipeline",
    rows: 100,
    mape: 4.1,
    within_5: 71,
    within_10: 93,
    reasons: ["The mean error of rows that were left out is 4.1%."],
    accelerator: KNOWN[fn].engine,
    own_load_known: true,
    ranges: [
      range("flows", "", 512, 58_900),
      range("packet_bytes", "B", 1518, 1518),
      range("working_set_mb", "MB", 0.3, 19.8),
    ],
    note: "",
    created_by: "dana",
    created_at: ago(86_400 * (4 - number)),
    promoted_by: state === "active" || state === "retired" ? "dana" : null,
    promoted_at: state === "active" || state === "retired" ? ago(86_000 * (4 - number)) : null,
    retired_at: state === "retired" ? ago(40_000) : null,
    ...more,
  };
}

const VERSIONS = () => ({
  firewall: [
    version("firewall", 3, 3, "refused", {
      mape: 12.4,
      reasons: ["The mean error of rows that were left out is 12.4%; at most 10% is of use: measure more rows."],
    }),
    version("firewall", 2, 2, "active"),
    version("firewall", 1, 1, "retired", { mape: 5.2 }),
  ],
  ids: [version("ids", 5, 2, "candidate", { mape: 3.4, note: "driver 24.10" }), version("ids", 4, 1, "active")],
  nat: [version("nat", 6, 1, "active", { own_load_known: false, mape: 4.8 })],
});

const COUNTERS = {
  ipc: 1.2,
  instructions: 3e9,
  l2_reads: 2.1e7,
  l2_writes: 1.0e7,
  memory_reads: 9e8,
  memory_writes: 2.9e8,
  working_set_mb: 2.4,
};

function running(fn, pod, kpps, more = {}) {
  return {
    name: pod,
    function: fn,
    container: pod,
    pod,
    at: ago(4),
    cores: 2,
    cpu_share: 0.93,
    flows: 12_000,
    packet_bytes: 1518,
    mtbr: fn === "ids" ? 600 : 0,
    counters: COUNTERS,
    throughput_kpps: kpps,
    offered_kpps: kpps * 1.1,
    saturated: true,
    host_limits: null,
    ...more,
  };
}

export class Functions {
  constructor(fleet, kind) {
    this.kind = kind;
    this.versions = kind === "empty" ? {} : VERSIONS();
    this.terms = Object.fromEntries(Object.entries(SLA).map(([name, sla_drop]) => [name, { cores: 2, sla_drop }]));
    const card = (at, functions) => ({
      host: fleet.host[at],
      pci: fleet.pci[at],
      model: "BF-2",
      fw_ver: "24.41.1000",
      cores_used: 2 * functions.length,
      functions,
    });
    this.cards =
      kind === "empty" || fleet.host.length < 2
        ? []
        : [
            card(0, [
              running("firewall", "net/firewall-0", 1060),
              running("ids", "net/ids-0", 655),
              running("dedup", "net/dedup-0", 410, { flows: null }),
            ]),
            card(1, [running("nat", "net/nat-0", 1440)]),
          ];
  }

  reads = [
    [/^\/nf-models$/, () => ({ items: this.models(), next_cursor: null })],
    [
      /^\/nf-cards\/([^/]+)\/([^/]+)\/course$/,
      ([, host, pci]) => this.course(decodeURIComponent(host), decodeURIComponent(pci)),
    ],
    [/^\/nf-headrooms$/, () => ({ items: this.headrooms(), next_cursor: null })],
    [/^\/nf-cards$/, () => ({ items: this.cards, next_cursor: null })],
  ];

  writes = [
    ["POST", /^\/nf-models$/, (_, body) => this.train(body)],
    ["POST", /^\/nf-models\/rollback$/, (_, body) => this.rollBack(body.function)],
    ["POST", /^\/nf-models\/([^/]+)\/promote$/, ([, id]) => this.promote(id)],
    ["PUT", /^\/nf-functions\/([^/]+)$/, ([, name], body) => this.setTerms(name, body)],
    ["POST", /^\/nf-predictions$/, (_, body) => this.predict(body)],
    ["POST", /^\/placements$/, (_, body) => this.place(body)],
  ];

  /** Flows that grew for two hours and go on growing: the firewall comes close to its SLA, the ids breaks it. */
  course(host, pci) {
    const card = this.cards.find((each) => each.host === host && each.pci === pci);
    if (!card) return null;
    const functions = card.functions.map((each) => {
      const active = this.versions[each.function]?.find(({ state }) => state === "active");
      const known = active !== undefined && each.flows !== null;
      const sla_drop = this.terms[each.function]?.sla_drop ?? null;
      const loss = (minutes) => Math.min(0.9, 0.11 + 0.0007 * minutes + 0.006 * Math.sin(minutes / 7));
      const flows = (minutes) => (each.flows ?? 1) * Math.exp(0.004 * minutes);
      const coming = known
        ? [10, 20, 30, 40, 50, 60].map((in_min) => ({
            in_min,
            flows: flows(in_min),
            packet_bytes: each.packet_bytes,
            mtbr: each.mtbr,
            predicted_kpps: each.throughput_kpps * (1 - loss(in_min)),
            loss: loss(in_min),
          }))
        : [];
      return {
        name: each.name,
        function: each.function,
        version: known ? active.number : null,
        model_mape: known ? active.mape : null,
        recent_mape: known ? 2.9 : null,
        sla_drop,
        trend: known ? { flows_factor: Math.exp(0.24), packet_bytes_factor: 1, mtbr_change: 0 } : null,
        breaks_in_min: sla_drop === null ? null : (coming.find((point) => point.loss > sla_drop)?.in_min ?? null),
        past: Array.from({ length: 25 }, (_, at) => ({
          at: ago(60 * 5 * (24 - at)),
          flows: each.flows === null ? null : flows(-5 * (24 - at)),
          packet_bytes: each.packet_bytes,
          mtbr: each.mtbr,
          measured_kpps: each.throughput_kpps,
          offered_kpps: each.offered_kpps,
          predicted_kpps: known ? each.throughput_kpps : null,
          predicted_loss: known ? loss(-5 * (24 - at)) - 0.006 : null,
          loss: known ? loss(-5 * (24 - at)) + 0.004 * Math.sin(at * 2.4) : null,
          error: known ? 0.03 * Math.sin(at) : null,
        })),
        coming,
      };
    });
    return { host, pci, hours: 2, functions };
  }

  headrooms() {
    return this.cards.map(({ host, pci, functions }, at) => {
      const loss = [0.11, 0.17][at] ?? 0.05;
      return { host, pci, function: functions[0].name, loss, sla_drop: 0.15, headroom: 1 - loss / 0.15 };
    });
  }

  models() {
    return Object.keys(this.versions).map((fn) => this.model(fn));
  }

  model(fn) {
    return {
      function: fn,
      nic_model: "BF-2",
      firmware: "",
      active: this.versions[fn].find(({ state }) => state === "active")?.number ?? null,
      terms: this.terms[fn] ?? { cores: 2, sla_drop: null },
      versions: this.versions[fn],
    };
  }

  train(body) {
    KNOWN[body.function] ??= { solo: 1000, loss: 0.05, load: 1, engine: null };
    const versions = (this.versions[body.function] ??= []);
    const made = version(body.function, 20 + Math.floor(Math.random() * 900), versions.length + 1, "candidate");
    versions.unshift(made);
    return {
      ...made,
      function: body.function,
      nic_model: body.nic_model,
      firmware: body.firmware,
      files: [],
      own_load: [],
    };
  }

  promote(id) {
    const [fn] = Object.entries(this.versions).find(([, all]) => all.some((each) => each.id === id)) ?? [];
    if (fn === undefined) return null;
    for (const each of this.versions[fn])
      if (each.id === id) Object.assign(each, { state: "active", promoted_by: "admin", promoted_at: ago(0) });
      else if (each.state === "active") each.state = "retired";
    return this.model(fn);
  }

  rollBack(fn) {
    const active = this.versions[fn]?.find(({ state }) => state === "active");
    if (!active) return null;
    const before = this.versions[fn].find(({ state, number }) => state === "retired" && number < active.number);
    active.state = "retired";
    if (before) before.state = "active";
    return this.model(fn);
  }

  setTerms(name, terms) {
    this.terms[name] = terms;
    return { name, ...terms, version: 2, updated_at: ago(0), updated_by: "admin" };
  }

  predict({ cores, residents, candidate }) {
    const functions = this.together(residents);
    const used = (all) => all.reduce((sum, each) => sum + (each.cores ?? this.terms[each.function]?.cores ?? 2), 0);
    let admission = null;
    if (candidate) {
      const all = [...residents, candidate];
      const found = this.together(all);
      const reasons = used(all) > cores ? [`${used(all)} cores are needed, and the card has ${cores}.`] : [];
      for (const each of found)
        if (each.sla_drop !== null && each.drop > each.sla_drop)
          reasons.push(
            `${each.name} would lose ${(100 * each.drop).toFixed(1)}%; it may lose ${(100 * each.sla_drop).toFixed(1)}%.`,
          );
      admission = { admitted: reasons.length === 0, reasons, cores_used: used(all), functions: found };
    }
    return { cores, cores_used: used(residents), functions, admission };
  }

  together(residents) {
    return residents.filter(({ function: fn }) => fn !== null).map((each) => this.outlook(each, residents));
  }

  outlook(each, residents) {
    const about = KNOWN[each.function];
    const others = residents.filter((other) => other !== each);
    const load = others.reduce((sum, other) => sum + (KNOWN[other.function]?.load ?? 1), 0);
    const time = ({ function: fn, mtbr }) => (KNOWN[fn]?.engine ? KNOWN[fn].engine.t0 + KNOWN[fn].engine.a * mtbr : 0);
    const table = about.solo * (1 - 0.06 * Math.log10(Math.max(each.flows, 1000) / 1000));
    const alone = about.engine ? Math.min(table, 1 / time(each)) : table;
    const memory = Math.min(alone, table * (1 - about.loss * load));
    const engine = about.engine
      ? Math.min(alone, 1 / (time(each) + others.reduce((sum, other) => sum + time(other), 0)))
      : alone;
    const throughput = Math.min(memory, engine);
    const lost = alone - throughput;
    const bottleneck = lost < 1 ? null : engine < memory ? "accelerator" : "memory";
    const sla_drop = this.terms[each.function]?.sla_drop ?? null;
    const drop = lost / alone;
    const outside = each.packet_bytes === 1518 ? [] : ["packet_bytes"];
    const width = outside.length > 0 ? 0.18 : 0.09;
    return {
      name: each.name,
      function: each.function,
      version: this.model(each.function).active ?? 1,
      cores: this.terms[each.function]?.cores ?? 2,
      throughput_kpps: throughput,
      low_kpps: throughput * (1 - width),
      high_kpps: throughput * (1 + width),
      solo_kpps: alone,
      measured_kpps: each.measured_kpps ?? null,
      offered_kpps: each.offered_kpps ?? null,
      deviation: each.measured_kpps
        ? each.measured_kpps / Math.min(throughput, each.offered_kpps ?? throughput) - 1
        : null,
      drop,
      worst_drop: Math.min(1, drop + width),
      sla_drop,
      sla_value: drop,
      headroom: sla_drop === null ? null : 1 - drop / sla_drop,
      lost_memory_kpps: bottleneck === "memory" ? lost : 0,
      lost_accelerator_kpps: bottleneck === "accelerator" ? lost : 0,
      bottleneck,
      binding: engine < memory ? "accelerator" : "memory",
      shifts_at_mtbr: about.engine ? Math.max(0, (1 / memory - about.engine.t0) / about.engine.a) : null,
      contributors: others.map(({ name }) => ({ name, kpps: lost / others.length })),
      outside,
      unknown_competitors: others
        .filter((other) => other.function === "nat" && !other.counters)
        .map(({ name }) => name),
    };
  }

  place({ functions, cards }) {
    const all = functions.flatMap((each) =>
      Array.from({ length: each.count ?? 1 }, (_, at) => ({
        ...each,
        name: (each.count ?? 1) > 1 ? `${each.name}-${at + 1}` : each.name,
      })),
    );
    const placed = (name, residents) => ({
      name,
      host: name.split(/[ /]/)[0],
      functions: residents.map((each) => {
        const found = this.outlook(each, residents);
        const sla = each.sla_drop ?? this.terms[each.function]?.sla_drop ?? 0.2;
        return {
          name: each.name,
          function: each.function,
          cores: 2,
          solo_kpps: found.solo_kpps,
          throughput_kpps: found.throughput_kpps,
          drop: found.drop,
          sla_drop: sla,
          violates: found.drop > sla,
          chance: 1 / (1 + Math.exp(80 * (sla - found.drop))),
          bottleneck: found.bottleneck,
          moved_from: each.card && each.card !== name ? each.card : null,
        };
      }),
    });
    const plan = (filled, unplaced) => ({
      cards: filled,
      cards_used: filled.length,
      violations: filled.flatMap((card) => card.functions).filter(({ violates }) => violates).length,
      expected_violations: filled.flatMap((card) => card.functions).reduce((sum, { chance }) => sum + chance, 0),
      unplaced,
    });
    const half = all.length / 2;
    const pairs = Array.from({ length: Math.ceil(half) }, (_, at) =>
      [all[at], all[at + Math.ceil(half)]].filter(Boolean),
    );
    const filled = pairs.slice(0, cards.length).map((pair, at) => placed(cards[at].name, pair));
    const now = new Map();
    for (const each of all) if (each.card) now.set(each.card, [...(now.get(each.card) ?? []), each]);
    const moves = filled.flatMap((card) => card.functions).filter(({ moved_from }) => moved_from !== null).length;
    return {
      ...plan(
        filled,
        pairs.slice(cards.length).flatMap((pair) => pair.map(({ name }) => name)),
      ),
      lower_bound: filled.length,
      moves,
      present:
        now.size > 0
          ? plan(
              [...now].map(([name, residents]) => placed(name, residents)),
              [],
            )
          : null,
      affinities: filled.flatMap((card) =>
        card.functions.map(({ name }) => ({ name, affinity: { nodeAffinity: { host: card.host } } })),
      ),
    };
  }
}
