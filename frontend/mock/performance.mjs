/** Performance models, calibrations and RNICs on their surfaces for the mock server; the parameters are Table 3's. */
import { seeded } from "./fleet.mjs";

const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const table = (u, v, m, n, w, a, b, c, goodness) => ({ u, v, m, n, w, a, b, c, goodness, latency_goodness: null });
export const TABLE = {
  "BF-2": table(324.47, 42.13, -26.92, -49.71, 26.28, 0.047, 0.068, 2.69, 0.93),
  "BF-3": table(748.52, 48.01, -33.4, -52.42, 30.65, 0.037, 0.043, 2.56, 0.94),
  "CX-4": table(78.86, 39.14, -28.25, -43.19, 4.91, 0.049, 0.063, 5.02, 0.94),
  "CX-5": table(148.97, 42.34, -29.37, -45.14, 12.43, 0.051, 0.074, 4.93, 0.93),
  "CX-6": table(324.47, 42.13, -26.92, -49.71, 26.28, 0.047, 0.068, 2.69, 0.93),
  "CX-7": table(739.52, 48.66, -33.53, -52.88, 29.32, 0.036, 0.045, 2.57, 0.94),
  E810: table(335.64, 43.54, -27.01, -49.55, 25.16, 0.042, 0.069, 2.74, 0.92),
};
const TITLES = {
  "BF-2": "NVIDIA BlueField-2",
  "BF-3": "NVIDIA BlueField-3",
  "CX-4": "NVIDIA ConnectX-4 Lx",
  "CX-5": "NVIDIA ConnectX-5",
  "CX-6": "NVIDIA ConnectX-6 Dx",
  "CX-7": "NVIDIA ConnectX-7",
  E810: "Intel E810",
};
const WALLS = [
  ["offloaded_flows", "Offloaded flows", "flows", 7200, "paper", "Section 3.2, RDMA write experiment"],
  ["egress_masks", "Egress masks", "masks", 24, "model", "bandwidth falls by a quarter at this length of the chain"],
  ["ingress_masks", "Ingress masks", "masks", 24, "model", "bandwidth falls by a quarter at this length of the chain"],
  ["flow_insertions", "Flow insertions", "flows/s", 1000, "paper", "Section 3.1, S2"],
  ["encap_contexts", "Encapsulation contexts", "contexts", 10000, "assumed", "measured on a BF-3 only"],
];
export const gbps = (p, ql, qr) => p.u * Math.exp(-((ql - p.m) ** 2 + (qr - p.n) ** 2) / (2 * p.v ** 2)) + p.w;
export const us = (p, ql, qr) => p.a * ql + p.b * qr + p.c;
const estimate = (value, share) => ({ value, lower: value * (1 - share), upper: value * (1 + share) });

function version(number, state, more = {}) {
  return {
    id: number === 0 ? null : ID(500 + number),
    number,
    driver: "",
    fw_ver: "",
    state,
    source: number === 0 ? "catalogue" : "perftest",
    parameters: TABLE["CX-6"],
    limits: {},
    note: "",
    reasons: [],
    points: 0,
    created_by: null,
    created_at: null,
    promoted_by: null,
    promoted_at: null,
    retired_at: null,
    ...more,
  };
}

export class Profiles {
  constructor(fleet, kind) {
    this.fleet = fleet;
    this.versions = Object.fromEntries(
      Object.entries(TABLE).map(([model, parameters]) => [model, [version(0, "active", { parameters })]]),
    );
    if (kind === "empty") return;
    const better = { ...TABLE["CX-6"], u: 318.9, a: 0.049, goodness: 0.97, latency_goodness: 0.98 };
    this.versions["CX-6"] = [
      version(0, "retired"),
      version(1, "active", {
        source: "fleet",
        fw_ver: "22.36.1010",
        parameters: better,
        points: 412,
        note: "From six hours of pod 7",
        created_by: "dana",
        created_at: ago(90_000),
        promoted_by: "admin",
        promoted_at: ago(86_000),
      }),
      version(2, "refused", {
        parameters: null,
        points: 3,
        note: "Three mask counts only",
        reasons: [
          "bandwidth: R squared 0.61 is worse than 0.97 of the active profile",
          "3 distinct points cannot identify 5 parameters",
        ],
        created_by: "dana",
        created_at: ago(40_000),
      }),
      version(3, "candidate", {
        parameters: { ...better, u: 322.4, v: 41.7 },
        points: 48,
        note: "Lab, firmware 22.39",
        fw_ver: "22.39.2048",
        created_by: "admin",
        created_at: ago(3_000),
      }),
    ];
  }

  summary(model) {
    const all = this.versions[model];
    const active = all.find((each) => each.state === "active") ?? all[0];
    const rnics = this.fleet.model.filter((each) => each === model).length;
    return {
      model,
      title: TITLES[model],
      vendor: model === "E810" ? "Intel" : "NVIDIA",
      rnics,
      active: active.number,
      scoped: all.filter((each) => each.state === "active" && each.fw_ver).length,
      candidates: all.filter((each) => each.state === "candidate").length,
      parameters: active.parameters,
      parameters_basis: active.number > 0 ? "calibrated" : model === "BF-2" ? "assumed" : "paper",
      parameters_source: model === "BF-2" ? "CX-6's parameters: nothing is published for this model" : "paper, Table 3",
      head_gbps: gbps(active.parameters, 0, 0),
      head_us: us(active.parameters, 0, 0),
    };
  }

  list() {
    return { items: Object.keys(TABLE).map((model) => this.summary(model)) };
  }

  get(model) {
    if (!this.versions[model]) return null;
    return {
      ...this.summary(model),
      pci_ids: ["15b3:101d"],
      hca_types: ["MT4125"],
      versions: [...this.versions[model]].reverse(),
      equation_note:
        "The paper's printed exponent lacks a bracket; read literally it gives 557 Gbit/s for a 200 Gbit/s CX-6 at the origin.",
      limits: WALLS.map(([wall, label, unit, value, basis, source]) => ({ wall, label, unit, value, basis, source })),
    };
  }

  parameters(model, number) {
    const all = this.versions[model];
    return (
      (number === null ? all.find((each) => each.state === "active") : all.find((each) => each.number === number))
        ?.parameters ?? all[0].parameters
    );
  }

  surface(model, q) {
    if (!this.versions[model]) return null;
    const to = Number(q.get("to") ?? 40);
    const axis = Array.from({ length: 21 }, (_, i) => (i * to) / 20);
    const p = this.parameters(model, q.get("version") === null ? null : Number(q.get("version")));
    const grid = (f) => axis.map((qr) => axis.map((ql) => f(p, ql, qr)));
    return {
      number: this.summary(model).active,
      q_l: axis,
      q_r: axis,
      bandwidth_gbps: grid(gbps),
      latency_us: grid(us),
    };
  }

  predict(model, q) {
    if (!this.versions[model]) return null;
    const [ql, qr] = [Number(q.get("ql")), Number(q.get("qr"))];
    const p = this.parameters(model, null);
    return {
      model,
      number: this.summary(model).active,
      q_l: ql,
      q_r: qr,
      bandwidth_gbps: estimate(gbps(p, ql, qr), 0.08),
      latency_us: estimate(us(p, ql, qr), 0.05),
      level: 0.9,
      basis: this.summary(model).active > 0 ? "calibration" : "the paper's goodness of fit",
      extrapolated: ql > 40 || qr > 40,
    };
  }

  rnics(model) {
    if (!this.versions[model]) return null;
    const random = seeded(model.length * 31 + 5);
    const p = this.parameters(model, null);
    return this.fleet.host
      .flatMap((host, i) => {
        if (this.fleet.model[i] !== model) return [];
        const slow = this.fleet.symptoms[i].includes("S6");
        const [ql, qr] = [slow ? 26 : random() * 9, slow ? 14 : random() * 7];
        return [
          {
            host,
            pci: this.fleet.pci[i],
            at: ago(30),
            q_l: ql,
            q_r: qr,
            q_r_basis: random() < 0.9 ? "peers" : "own_ingress",
            expected_gbps: gbps(p, ql, qr),
            expected_us: us(p, ql, qr),
            measured_gbps: random() < 0.2 ? null : gbps(p, ql, qr) * (0.94 + random() * 0.08),
          },
        ];
      })
      .slice(0, 2000);
  }

  compare(model, q) {
    const [left, right] = ["left", "right"].map((side) =>
      this.versions[model]?.find((each) => each.number === Number(q.get(side))),
    );
    if (!left || !right) return null;
    const random = seeded(4);
    const points = Array.from({ length: 24 }, (_, i) => {
      const [ql, qr] = [(i % 6) * 5, Math.floor(i / 6) * 6];
      const bandwidth = i % 2 === 0;
      const f = bandwidth ? gbps : us;
      const measured = f(right.parameters, ql, qr) * (0.97 + random() * 0.06);
      return {
        quantity: bandwidth ? "bandwidth" : "latency",
        source: `ib_write_bw-${ql}-${qr}.log`,
        q_l: ql,
        q_r: qr,
        measured,
        left: f(left.parameters, ql, qr),
        right: f(right.parameters, ql, qr),
      };
    });
    return {
      left,
      right,
      points,
      left_error: { bandwidth: 0.061, latency: 0.034 },
      right_error: { bandwidth: 0.019, latency: 0.012 },
    };
  }

  version(model, number) {
    const found = this.versions[model]?.find((each) => each.number === number);
    return found
      ? {
          ...found,
          calibration:
            found.number === 0 || found.source === "fleet"
              ? null
              : calibration(model, { ...found, parameters: found.parameters ?? TABLE[model] }),
        }
      : null;
  }

  calibrate(model, body) {
    const all = this.versions[model];
    if (!all) return null;
    const made = version(all.length, "candidate", {
      source: body.files ? "perftest" : "fleet",
      parameters: { ...this.parameters(model, null), u: this.parameters(model, null).u * 1.01 },
      points: 36,
      note: body.note ?? "",
      driver: body.driver ?? "",
      fw_ver: body.fw_ver ?? "",
      created_by: "admin",
      created_at: ago(0),
    });
    all.push(made);
    return { ...made, calibration: calibration(model, made) };
  }

  promote(model, number) {
    for (const each of this.versions[model]) {
      if (each.number === number) Object.assign(each, { state: "active", promoted_by: "admin", promoted_at: ago(0) });
      else if (each.state === "active") each.state = "retired";
    }
    return this.get(model);
  }

  performance(i) {
    const model = this.fleet.model[i];
    if (!TABLE[model]) return null;
    const slow = this.fleet.symptoms[i].length > 0;
    const random = seeded(i + 17);
    const p = this.parameters(model, null);
    const path = Array.from({ length: 360 }, (_, minute) => {
      const grown = minute / 360;
      const [ql, qr] = [(slow ? 4 + 22 * grown : 3 + 2 * grown) + random(), 2 + 4 * grown + random()];
      const expected = gbps(p, ql, qr);
      return {
        at: ago((360 - minute) * 60),
        q_l: ql,
        q_r: qr,
        expected_gbps: expected,
        expected_us: us(p, ql, qr),
        measured_gbps: minute % 9 === 0 ? null : expected * (0.95 + random() * 0.06),
        residual: minute % 9 === 0 ? null : -0.02 + random() * 0.04,
      };
    });
    const last = path.at(-1);
    return {
      model,
      number: this.summary(model).active,
      at: last.at,
      q_l: last.q_l,
      q_r: last.q_r,
      q_r_basis: "peers",
      peers_known: 0.92,
      bandwidth_gbps: estimate(last.expected_gbps, 0.08),
      latency_us: estimate(last.expected_us, 0.05),
      measured_gbps: last.measured_gbps,
      minutes: 5,
      full: true,
      above: false,
      head_gbps: gbps(p, 0, 0),
      head_us: us(p, 0, 0),
      path,
    };
  }
}

function fit(quantity, model, parameters, points, accepted) {
  const f = quantity === "bandwidth" ? gbps : us;
  const random = seeded(quantity.length);
  const names = quantity === "bandwidth" ? ["u", "v", "m", "n", "w"] : ["a", "b", "c"];
  const identified = points > 8;
  return {
    quantity,
    verb: "write",
    unit: quantity === "bandwidth" ? "Gbit/s" : "us",
    message_bytes: quantity === "bandwidth" ? 65536 : 2,
    statistic: quantity === "bandwidth" ? "average" : "typical",
    distinct: points,
    degrees_of_freedom: Math.max(0, points - names.length),
    points: Array.from({ length: points }, (_, i) => {
      const [q_l, q_r] = [(i % 7) * 4, Math.floor(i / 7) * 5];
      const [fitted, current] = [f(parameters, q_l, q_r), f(TABLE[model], q_l, q_r)];
      const measured = fitted * (0.98 + random() * 0.04);
      return {
        source: `ib_write_${quantity === "bandwidth" ? "bw" : "lat"}-${q_l}-${q_r}.log`,
        q_l,
        q_r,
        measured,
        fitted,
        current,
        residual: measured - fitted,
        relative: fitted / measured - 1,
      };
    }),
    parameters: Object.fromEntries(
      names.map((name) => [
        name,
        {
          value: parameters[name],
          lower: identified ? parameters[name] - 0.06 * Math.abs(parameters[name]) : null,
          upper: identified ? parameters[name] + 0.06 * Math.abs(parameters[name]) : null,
          identified,
          current: TABLE[model][name],
        },
      ]),
    ),
    covariance: null,
    r_squared: accepted ? 0.98 : 0.61,
    relative_error: 0.014,
    left_out_error: identified ? 0.019 : null,
    worst_relative: 0.037,
    current_r_squared: 0.93,
    current_relative_error: 0.052,
    level: 0.95,
    interval_method: "linearised, Student's t",
    accepted,
    reason: accepted ? "" : "R squared 0.61 is worse than 0.97 of the active profile",
    notes: identified
      ? []
      : ["3 different (Q_l, Q_r) do not identify m, n, v: they stay near the current profile's values."],
    by_size: [],
  };
}

function calibration(model, found) {
  const accepted = found.state !== "refused";
  return {
    version: "1",
    profile: model,
    profile_chosen: "given",
    verb: "write",
    accepted,
    reasons: found.reasons,
    bandwidth: fit("bandwidth", model, found.parameters, Math.min(found.points, 42), accepted),
    latency: fit("latency", model, found.parameters, Math.min(found.points, 42), accepted),
    other_fits: [],
    candidate: {
      ...found.parameters,
      bandwidth_relative_sd: 0.02,
      latency_relative_sd: 0.01,
      bandwidth_covariance: null,
      latency_covariance: null,
    },
    assumptions: ["Mask counts come from the file names."],
    notes: [],
    problems: found.points > 8 ? [] : ["ib_read_lat-9.log: no table of results"],
    files: [
      { name: "ib_write_bw-0-0.log", runs: 1, used: 24, q_l: 0, q_r: 0 },
      { name: "ib_write_bw-10-5.log", runs: 2, used: 48, q_l: 10, q_r: 5 },
    ],
  };
}
