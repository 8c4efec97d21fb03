/**
 * Promises to VFs and who breaks them, for the mock server. On some RNICs a VF storms for 25 of every 180 seconds; all that the pages show
 * is derived from that rhythm, so that strip, table, history and report agree with each other and move on as time does.
 */
import { seeded } from "./fleet.mjs";
import { Slos } from "./slos.mjs";
import { fleetView, ownerOf, report } from "./tenants.mjs";
import { iso, nowS, parse, stormSeconds, PERIOD_S, todayS } from "./storms.mjs";

/** [pod, class, usual tx, rx in Mbit/s, part in a storm]; the last one is missing from the samples. */
const CAST = [
  ["payments/api-7d9f6c", "gold", 3200, 2100, "victim"],
  ["ml/trainer-1", "bulk", 11_400, 9_800, null],
  ["ads/indexer-0", "bulk", 4100, 1200, "aggressor"],
  ["payments/ledger-5b8cd4", "gold", 1100, 640, "victim"],
  ["search/ranker-2", "silver", 2600, 3900, null],
  [null, null, 0, 0, null],
  ["infra/probe-x2x8k", "silver", null, null, "missing"],
  ["shop/cart-66fd", "silver", 420, 380, null],
];
const MECHANISMS = ["ingress packet rate", "ingress bandwidth", "egress buffer", "pcie"];

export class Isolation {
  constructor(fleet, kind) {
    this.fleet = fleet;
    this.empty = kind === "empty";
    this.slos = new Slos(this, kind);
    const rnics = fleet.host.length;
    const stormy = kind === "large" ? 140 : 5;
    const random = seeded(11);
    this.stormy = new Map();
    for (let n = 0; n < Math.min(stormy, rnics); n++) {
      const i = Math.floor((n * rnics) / stormy);
      this.stormy.set(i, { offset: Math.floor(random() * PERIOD_S), mechanism: MECHANISMS[n % MECHANISMS.length] });
    }
  }

  find(host, pci) {
    return this.fleet.host.findIndex((name, i) => name === host && this.fleet.pci[i] === decodeURIComponent(pci));
  }

  /** The first host has an RNIC with many VFs; the fourth RNIC has none. */
  cast(i) {
    if (i % 32 === 3) return [];
    const count = i === 0 ? 24 : CAST.length;
    return Array.from({ length: count }, (_, vf) => {
      const [pod, slo, tx, rx, part] = CAST[vf % CAST.length];
      return {
        vf,
        pod: pod && vf >= CAST.length ? `${pod}-${vf}` : pod,
        slo,
        tx,
        rx,
        part: vf < CAST.length ? part : null,
      };
    });
  }

  who({ vf, pod }) {
    return { vf, pod, tenant: pod === null ? null : pod.split("/")[0] };
  }

  storming(i, at) {
    const storm = this.stormy.get(i);
    return storm !== undefined && stormSeconds(at, at + 1, storm.offset) > 0;
  }

  seconds(i, from, to) {
    const storm = this.stormy.get(i);
    return storm ? stormSeconds(from, to, storm.offset) : 0;
  }

  now(i, player, at) {
    const { part, slo, tx, rx, vf } = player;
    const storm = this.storming(i, at);
    const aggressor = storm && part === "aggressor";
    const victim = storm && part === "victim";
    const wave = 1 + 0.12 * Math.sin(at / 7 + vf);
    const rate = (usual, factor) => (usual === null ? null : Math.round(usual * wave * factor * 10) / 10);
    const calm = { p50: 7.4 * wave, p99: 31 * wave };
    const known = tx !== null && tx > 0;
    return {
      ...this.who(player),
      namespace: this.who(player).tenant,
      slo: this.slos.promise(slo),
      tx_mbps: rate(tx, aggressor ? 5.2 : victim ? 0.7 : 1),
      rx_mbps: rate(rx, victim ? 0.6 : 1),
      tx_kpps: rate(tx, aggressor ? 1.9 : 0.16),
      rx_kpps: rate(rx, 0.15),
      delay_p50_us: known && slo ? Math.round(calm.p50 * (victim ? 9 : 1) * 10) / 10 : null,
      delay_p99_us: known && slo ? Math.round(calm.p99 * (victim ? 41 : 1) * 10) / 10 : null,
      dropped_per_s: known ? (victim ? 41_200 : aggressor ? 97_000 : 0) : null,
      share: known ? (aggressor ? 0.78 : 0.09 * wave) : null,
      fair_share: known ? 0.21 : null,
      limit_mbps: vf === 1 ? 20_000 : null,
      state: part === "missing" ? "unknown" : slo === null || aggressor ? "not promised" : victim ? "broken" : "kept",
      role: aggressor ? "aggressor" : victim ? "victim" : null,
      reason: victim
        ? "p99 delay 1,270 µs, promised 50 µs; 2.1% of its packets are dropped inside its envelope"
        : part === "missing"
          ? "no samples of this VF for 40 s"
          : null,
    };
  }

  row(i, player, at = nowS()) {
    const today = this.seconds(i, todayS(at), at);
    return {
      ...this.now(i, player, at),
      broken_s_today: player.part === "victim" ? today : 0,
      aggressor_s_today: player.part === "aggressor" ? today : 0,
    };
  }

  rnic([, host, pci]) {
    const i = this.find(host, pci);
    if (i < 0) return null;
    const at = nowS();
    const storm = this.storming(i, at);
    const vfs = this.cast(i).map((player) => this.row(i, player, at));
    return {
      host: this.fleet.host[i],
      pci: this.fleet.pci[i],
      model: this.fleet.model[i],
      port_mbps: 100_000,
      at: vfs.length > 0 ? iso(at) : null,
      stale: false,
      numvfs: vfs.length,
      doubt: this.stormy.has(i) ? "port drops in the last 60 s" : null,
      mechanism: storm ? this.stormy.get(i).mechanism : null,
      load: vfs.length === 0 ? null : storm ? 1.34 : 0.46,
      broken_s_today: this.seconds(i, todayS(at), at),
      vfs,
    };
  }

  strip([, host, pci], q) {
    const i = this.find(host, pci);
    if (i < 0) return null;
    const until = parse(q.get("until"), nowS());
    const since = parse(q.get("since"), until - 300);
    const step = Number(q.get("step_s") ?? 1);
    const end = Math.min(until, nowS());
    return {
      since: iso(since),
      until: iso(until),
      step_s: step,
      vfs: this.cast(i).map((player) => {
        const cells = [];
        for (let at = since; at < end; at += step) {
          // A gap of the host's telemetry: nothing is known of those seconds.
          if (step === 1 && at % 211 < 4) continue;
          const seconds = this.seconds(i, at, at + step);
          const broken = player.part === "victim" ? seconds : 0;
          const calm = player.part === "missing" ? "unknown" : player.slo === null ? "not promised" : "kept";
          cells.push({
            at: iso(at),
            state: broken > 0 ? "broken" : calm,
            broken_s: broken,
            aggressor_s: player.part === "aggressor" ? seconds : 0,
          });
        }
        return { ...this.who(player), cells };
      }),
    };
  }

  vf([, host, pci, number], q) {
    const i = this.find(host, pci);
    const player = i < 0 ? undefined : this.cast(i)[Number(number)];
    if (!player) return null;
    const until = parse(q.get("until"), nowS());
    const since = parse(q.get("since"), until - 900);
    const step = Math.max(5, Math.ceil((until - since) / 300));
    const series = [];
    for (let at = since; at < until; at += step) {
      const { tx_mbps, rx_mbps, tx_kpps, rx_kpps, delay_p50_us, delay_p99_us, dropped_per_s, share, fair_share } =
        this.now(i, player, at);
      const seconds = this.seconds(i, at, at + step);
      series.push({
        at: iso(at),
        ...{ tx_mbps, rx_mbps, tx_kpps, rx_kpps, delay_p50_us, delay_p99_us, share, fair_share },
        tx_mbps_max: tx_mbps,
        rx_mbps_max: rx_mbps,
        dropped: dropped_per_s === null ? null : dropped_per_s * step,
        kept_s: player.part === "missing" ? 0 : step,
        broken_s: player.part === "victim" ? seconds : 0,
        unknown_s: player.part === "missing" ? step : 0,
        not_promised_s: 0,
        aggressor_s: player.part === "aggressor" ? seconds : 0,
      });
    }
    const broken = this.broken(i, player, since, until);
    return {
      ...this.row(i, player),
      host: this.fleet.host[i],
      pci: this.fleet.pci[i],
      at: iso(nowS()),
      step_s: step,
      series,
      broken: broken.slice(0, 500),
      broken_total: broken.length,
      holders:
        player.pod === null
          ? []
          : [
              { ...this.who(player), container: "c0ffee".repeat(10), since: iso(until - 5200), until: null },
              {
                pod: "ci/build-99",
                tenant: "ci",
                container: "beef".repeat(16),
                since: iso(until - 90_000),
                until: iso(until - 5300),
              },
            ].map(({ pod, tenant, container, since: from, until: to }) => ({
              pod,
              ...ownerOf(pod),
              tenant,
              container,
              since: from,
              until: to,
            })),
    };
  }

  /** One interval per second, newest first. */
  broken(i, player, since, until) {
    if (player.part !== "victim" && player.part !== "aggressor") return [];
    const cast = this.cast(i);
    const aggressors = cast.filter((each) => each.part === "aggressor");
    const victims = cast.filter((each) => each.part === "victim");
    const found = [];
    for (let at = Math.floor(until); at > since; at--) {
      if (!this.storming(i, at - 1)) continue;
      found.push({
        at: iso(at),
        interval_s: 1,
        estimated: false,
        mechanism: this.stormy.get(i).mechanism,
        reason:
          player.part === "victim"
            ? "p99 delay 1,270 µs, promised 50 µs; 2.1% of its packets are dropped inside its envelope"
            : "sends 2.4 Mpps, 78% of what the RNIC can process; at its fair share of 21% the drops would end",
        role: player.part,
        aggressors: aggressors.map((each) => ({ ...this.who(each), share: 0.74 + (at % 9) / 100, fair_share: 0.21 })),
        victims: victims.map((each) => ({ ...this.who(each), reason: "p99 delay 1,270 µs, promised 50 µs" })),
      });
    }
    return found;
  }

  reads = [
    [/^\/isolation\/fleet$/, (_, q) => fleetView(this, q)],
    [/^\/isolation\/report$/, (_, q) => report(this, q)],
    [/^\/isolation\/rnics\/([^/]+)\/([^/]+)$/, (match) => this.rnic(match)],
    [/^\/isolation\/rnics\/([^/]+)\/([^/]+)\/strip$/, (match, q) => this.strip(match, q)],
    [/^\/isolation\/rnics\/([^/]+)\/([^/]+)\/vfs\/(\d+)$/, (match, q) => this.vf(match, q)],
    [/^\/isolation\/slo-classes$/, () => this.slos.classes()],
    [/^\/isolation\/slo-rules$/, () => this.slos.stored],
  ];
}
