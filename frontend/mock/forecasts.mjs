/** Forecasts for the mock server: who hits a wall, one RNIC's next hour, past forecasts, and the models. */
import { seeded } from "./fleet.mjs";
import { gbps, TABLE, us } from "./performance.mjs";

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const HORIZONS = [60, 300, 900, 1800, 3600];
const LABELS = {
  offloaded_flows: "Offloaded flows",
  egress_masks: "Egress masks",
  ingress_masks: "Ingress masks",
  flow_insertions: "Flow insertions",
  encap_contexts: "Encapsulation contexts",
};

/** Low, likely and high at each horizon of what grows by `growth` an hour and is uncertain by `spread` then. */
const fan = (now, growth, spread) =>
  HORIZONS.map((s) => [-1, 0, 1].map((side) => now * (1 + (growth + side * spread) * (s / 3600))));
const reached = (now, limit, growth) => (now >= limit ? 0 : growth <= 0 ? null : ((limit / now - 1) / growth) * 3600);
const within = (s) => (s === null || s > 3600 ? null : Math.round(s));
/** The chance that goes with these times: at the limit, likely, possible, or hardly. */
const chanceOf = ({ earliest_in_s, likely_in_s }) =>
  likely_in_s === 0 ? 1 : likely_in_s !== null ? 0.95 - likely_in_s / 9000 : earliest_in_s !== null ? 0.18 : 0.004;

const isExpected = (row, until) => row.likely_in_s !== null && row.likely_in_s <= until;

export class Forecasts {
  constructor(fleet, kind) {
    this.fleet = fleet;
    this.kind = kind;
  }

  /** How an RNIC is bound: the same on every page. */
  course(i) {
    const random = seeded(i * 7 + 1);
    const sick = this.fleet.symptoms[i].length > 0;
    const headroom = this.fleet.headroom[i] ?? 0.6;
    return {
      now: 1 - headroom,
      growth: sick ? 0.35 : -0.05 + random() * 0.3,
      spread: 0.08 + random() * 0.1,
      decline: sick || random() < 0.06 ? 0.06 + random() * 0.3 : 0.01,
      cold: random() < 0.1,
      violated: random() < 0.03,
    };
  }

  row(i) {
    const { now, growth, spread, decline, cold, violated } = this.course(i);
    const times = {
      earliest_in_s: within(reached(now, 1, growth + spread)),
      likely_in_s: within(reached(now, 1, growth)),
      latest_in_s: within(reached(now, 1, growth - spread)),
    };
    const f = this.fleet;
    return {
      host: f.host[i],
      pci: f.pci[i],
      rack: f.rack[i],
      model: f.model[i],
      made_at: ago(20 + (i % 40)),
      wall: times.earliest_in_s === null ? null : f.nearest_wall[i],
      label: times.earliest_in_s === null ? null : (LABELS[f.nearest_wall[i]] ?? null),
      ...times,
      chance: chanceOf(times),
      confidence: cold ? "low" : "high",
      decline_share: decline,
      decline_since: decline >= 0.05 ? ago(260) : null,
      decline_in_s: decline >= 0.05 && i % 3 ? 300 + ((i * 37) % 3000) : null,
      cold_start: cold,
      policy_violated: violated,
    };
  }

  all() {
    this.rows ??= this.fleet.host.map((_, i) => this.row(i));
    return this.rows;
  }

  counts(q) {
    const until = Number(q.get("within_s") ?? 3600);
    const rows = this.all().filter((row) =>
      ["wall", "rack", "model"].every((name) => !q.get(name) || row[name] === q.get(name)),
    );
    const count = (wanted) => rows.filter(wanted).length;
    return {
      at_limit: count((row) => row.likely_in_s === 0),
      likely: count((row) => row.likely_in_s !== 0 && isExpected(row, until)),
      others: count((row) => !isExpected(row, until)),
      declining: count((row) => row.decline_since !== null),
    };
  }

  list(q) {
    const until = Number(q.get("within_s") ?? 3600);
    const expected = q.get("expected") !== "false";
    const falls = (row) => row.decline_since !== null && (row.decline_in_s ?? 3600) <= until;
    const [sort, declining] = [q.get("sort"), q.get("declining") === "true"];
    const wanted = (row) =>
      ["wall", "rack", "model"].every((name) => !q.get(name) || row[name] === q.get(name)) &&
      (declining ? falls(row) : isExpected(row, until) === expected || (sort === "decline" && expected && falls(row)));
    const key = (row) => (sort === "decline" ? -(row.decline_share ?? 0) : (row.likely_in_s ?? 1e6 - row.chance));
    const all = this.all()
      .filter(wanted)
      .sort((a, b) => key(a) - key(b));
    const from = Number(q.get("cursor") ?? 0);
    const to = from + Number(q.get("limit") ?? 100);
    return { items: all.slice(from, to), next_cursor: to < all.length ? String(to) : null };
  }

  get(i) {
    const { now, growth, spread, decline, cold, violated } = this.course(i);
    const model = TABLE[this.fleet.model[i]] ?? TABLE["CX-6"];
    const one = (wall, unit, limit, share, g) => {
      const times = {
        earliest_in_s: within(reached(share, 1, g + spread)),
        likely_in_s: within(reached(share, 1, g)),
        latest_in_s: within(reached(share, 1, g - spread)),
      };
      const ahead = fan(limit * share, g, spread);
      return { wall, label: LABELS[wall], unit, now: limit * share, limit, ahead, ...times, chance: chanceOf(times) };
    };
    const unknown = {
      wall: "encap_contexts",
      label: LABELS.encap_contexts,
      unit: "contexts",
      now: null,
      limit: 10000,
      ahead: [],
      earliest_in_s: null,
      likely_in_s: null,
      latest_in_s: null,
      chance: null,
    };
    const sick = this.fleet.symptoms[i].length > 0;
    const q = (1 - (this.fleet.headroom[i] ?? 0.6)) * 14;
    const other = (label, unit, value, g) => ({ label, unit, now: value, ahead: fan(value, g, spread / 2) });
    return {
      host: this.fleet.host[i],
      pci: this.fleet.pci[i],
      rack: this.fleet.rack[i],
      model: this.fleet.model[i],
      at: ago(24),
      stale: i % 9 === 8,
      forecaster: cold ? null : "20261120-0310",
      cold_start: cold,
      confidence: cold ? "low" : "high",
      policy_violated: violated,
      q_r_basis: cold ? "own_ingress" : "peers",
      horizons_s: HORIZONS,
      quantiles: [0.05, 0.5, 0.95],
      walls: [
        one("offloaded_flows", "flows", 7200, sick ? 1.12 : Math.min(now, 0.44), growth),
        one("egress_masks", "masks", 24, 21 / 24, sick ? growth / 2 : 0.1),
        one("ingress_masks", "masks", 24, 9 / 24, 0.02),
        one("flow_insertions", "flows/s", 1000, 0.182, 0.1),
        unknown,
      ],
      others: {
        q_l: other("Egress mask lookups (Q_l)", "lookups", q, growth),
        q_r: other("Remote ingress mask lookups (Q_r)", "lookups", q / 2, growth / 2),
        bandwidth_gbps: other("Bandwidth", "Gbit/s", gbps(model, q, q / 2), -decline),
        latency_us: other("Latency", "us", us(model, q, q / 2), decline / 3),
      },
      headroom: fan(this.fleet.headroom[i] ?? 0.6, -growth, spread),
      decline: {
        share: decline,
        in_s: decline >= 0.05 ? 900 : null,
        chance: decline >= 0.05 ? 0.74 : 0.08,
        since: decline >= 0.05 ? ago(260) : null,
      },
    };
  }

  past(i, q) {
    const target = q.get("target") ?? "offloaded_flows";
    const newest = this.get(i);
    const now = newest.others[target] ?? newest.walls.find((wall) => wall.wall === target);
    if (!now) return null;
    const horizon = Number(q.get("horizon_s") ?? 900);
    const random = seeded(i + horizon);
    const items = Array.from({ length: 180 }, (_, n) => {
      const back = (180 - n) * 120;
      const actual = now.now * (0.8 + (0.2 * n) / 180 + 0.04 * Math.sin(n / 9));
      const likely = actual * (0.98 + random() * 0.04);
      const width = 0.03 + horizon / 60_000;
      return {
        at: ago(back + horizon),
        for_at: ago(back),
        low: likely * (1 - width),
        likely,
        high: likely * (1 + width),
        actual: n > 177 ? null : actual,
        cold_start: n < 20,
        policy_violated: n > 90 && n < 104,
        forecaster: n < 20 ? null : "20261120-0310",
      };
    });
    return { target, label: now.label, unit: now.unit, horizon_s: horizon, items };
  }

  models() {
    const one = (id, role, days, live) => ({
      id,
      role,
      trained_at: ago(days * 86_400),
      data: {},
      metrics: {},
      features: [],
      sha256: "0".repeat(64),
      source: null,
      live,
      judged: null,
      problem: null,
      updated_at: ago(30),
    });
    const judged = { champion: "20261120-0310", verdict: "better", hours: 31, loss: 0.0052, champion_loss: 0.0061 };
    return [
      one("20261120-0310", "champion", 1, { minutes: 900, mean_error: 0.014, coverage: 0.91, drifted: false }),
      {
        ...one("20261121-0310", "challenger", 0.3, { minutes: 1900, mean_error: 0.012, coverage: 0.9, drifted: false }),
        judged,
      },
      {
        ...one("20261101-0310", "former", 20, { minutes: 4000, mean_error: 0.043, coverage: 0.78, drifted: true }),
        problem: "model.json is not what was trained: its hash differs. Train again, or restore the file",
      },
    ];
  }

  changes() {
    const one = (days, action, model, before, by, reason) => ({
      at: ago(days * 86_400),
      action,
      model,
      champion_before: before,
      by,
      reason,
    });
    return [
      one(0.3, "trained", "20261121-0310", "20261120-0310", "ada", "store"),
      one(
        0.9,
        "promoted",
        "20261120-0310",
        "20261101-0310",
        "ada",
        "better than 20261101-0310 on live data: loss 0.0061 against 0.0083 over 40 hours",
      ),
      one(20, "trained", "20261101-0310", null, "ada", "store"),
    ];
  }
}
