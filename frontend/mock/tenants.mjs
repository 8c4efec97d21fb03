/** Broken promises of the fleet and the monthly report of the mock, from the same storms as the pages of RNICs and VFs. */
import { iso, nowS, parse, PERIOD_S, STORM_S, stormSeconds, todayS } from "./storms.mjs";

/** What Kubernetes says of a pod; it was not asked about the pods of `ci`. */
export function ownerOf(pod) {
  const [namespace, name] = pod?.split("/") ?? [];
  if (!name || namespace === "ci") return { owner: null, labels: {} };
  return {
    owner: `Deployment/${name.replace(/-\d+$/, "")}`,
    labels: { app: name.replace(/-\d+$/, ""), team: namespace },
  };
}

export function fleetView(isolation, q) {
  const until = parse(q.get("until"), nowS());
  const since = parse(q.get("since"), todayS(until));
  const rnics = [...isolation.stormy].map(([i, { mechanism, offset }], n) => {
    const seconds = Math.round(stormSeconds(since, until, offset) / (n + 1));
    const cast = isolation.cast(i);
    const by = (part) => cast.filter((each) => each.part === part).map((each) => isolation.who(each));
    const last = Math.floor((until - offset) / PERIOD_S) * PERIOD_S + offset + STORM_S;
    return {
      host: isolation.fleet.host[i],
      pci: isolation.fleet.pci[i],
      rack: isolation.fleet.rack[i],
      model: isolation.fleet.model[i],
      broken_s: seconds,
      estimated_s: n === 2 ? Math.round(seconds / 3) : 0,
      last_broken_at: iso(Math.min(last, until)),
      mechanisms:
        n === 0
          ? [
              { mechanism, seconds: seconds * 0.8 },
              { mechanism: null, seconds: seconds * 0.2 },
            ]
          : [{ mechanism, seconds }],
      victims: by("victim").map((each, k) => ({ ...each, broken_s: Math.round(seconds / (k + 1)) })),
      aggressors: n === 3 ? [] : by("aggressor").map((each) => ({ ...each, aggressor_s: seconds })),
      pairs: [{ aggressor_vf: 2, victim_vf: 0, seconds }],
    };
  });
  const hosts = [...new Set(rnics.map((each) => each.host))]
    .map((host) => {
      const own = rnics.filter((each) => each.host === host);
      return {
        host,
        rack: own[0].rack,
        rnics: own.length,
        broken_s: own.reduce((sum, each) => sum + each.broken_s, 0),
        last_broken_at: own
          .map((each) => each.last_broken_at)
          .sort()
          .at(-1),
      };
    })
    .sort((a, b) => b.broken_s - a.broken_s);
  const vfs = (part, seconds) =>
    rnics
      .flatMap(({ host, pci, [part]: own }) =>
        own.map(({ [seconds]: amount, vf, pod, tenant }) => ({
          host,
          pci,
          vf,
          pod,
          ...ownerOf(pod),
          tenant,
          seconds: amount,
        })),
      )
      .filter((each) => each.seconds > 0)
      .sort((a, b) => b.seconds - a.seconds);
  const broken = rnics.reduce((sum, each) => sum + each.broken_s, 0);
  const span = until - since;
  const tenant = (name, vfs, suffered, caused, unknown, promised = true) => ({
    tenant: name,
    vfs,
    broken_s: suffered,
    aggressor_s: caused,
    unknown_s: unknown,
    kept_share: promised ? 1 - suffered / (span * vfs) : null,
  });
  return {
    since: iso(since),
    until: iso(until),
    broken_s: broken,
    unknown_s: isolation.empty ? 0 : span * 1.4,
    rnics,
    rnics_total: rnics.length,
    hosts,
    victims: vfs("victims", "broken_s"),
    aggressors: vfs("aggressors", "aggressor_s"),
    tenants: isolation.empty
      ? []
      : [
          tenant("payments", 58, Math.round(broken * 1.5), 0, 0),
          tenant("search", 29, 0, 0, 12),
          tenant("ads", 29, 0, broken, 0),
          tenant("ml", 29, 0, 0, 0),
          tenant("infra", 29, 0, 0, span * 1.4, false),
          tenant("shop", 29, 0, 0, 0),
          tenant(null, 4, 0, 0, 0, false),
        ],
  };
}

export function report(isolation, q) {
  const month = q.get("month") ?? iso(nowS()).slice(0, 7);
  const by = q.get("by") ?? "vf";
  const objective = Number(q.get("objective") ?? 0.999);
  const since = Date.parse(`${month}-01T00:00:00Z`) / 1000;
  const until = Math.min(nowS(), since + 30 * 86_400);
  const row = (tenant, vfs, broken, unknown, caused, where = {}) => {
    const kept = (until - since) * vfs - broken - unknown;
    const budget = (kept + broken) * (1 - objective);
    return {
      tenant,
      host: null,
      pci: null,
      vf: null,
      pods: [],
      owners: [],
      vfs,
      kept_s: kept,
      broken_s: broken,
      unknown_s: unknown,
      not_promised_s: 0,
      aggressor_s: caused,
      kept_share: kept + broken > 0 ? kept / (kept + broken) : null,
      budget_s: budget,
      budget_left_s: budget - broken,
      met: kept + broken > 0 ? broken <= budget : null,
      ...where,
    };
  };
  const rows = () => {
    if (by === "tenant")
      return [
        row("payments", 58, 151_200, 3600, 0),
        row("shop", 29, 41_800, 0, 0),
        row("search", 29, 9100, 62_000, 12),
        row("ads", 29, 210, 0, 108_000),
        row("infra", 29, 0, 29 * (until - since), 0),
      ];
    return [...isolation.stormy.keys()].flatMap((i, n) =>
      isolation
        .cast(i)
        .filter((player) => player.slo !== null)
        .map((player) =>
          row(
            isolation.who(player).tenant,
            1,
            player.part === "victim" ? Math.round(7800 / (n + 1)) : 0,
            player.part === "missing" ? until - since : 840 * n,
            player.part === "aggressor" ? Math.round(7800 / (n + 1)) : 0,
            {
              host: isolation.fleet.host[i],
              pci: isolation.fleet.pci[i],
              vf: player.vf,
              pods: [player.pod, ...(player.vf === 1 ? ["ci/build-99"] : [])],
              owners: [ownerOf(player.pod).owner].filter(Boolean),
            },
          ),
        ),
    );
  };
  return {
    month,
    since: iso(since),
    until: iso(until),
    by,
    objective,
    rows:
      isolation.empty || until <= since ? [] : rows().sort((a, b) => a.budget_left_s / a.vfs - b.budget_left_s / b.vfs),
  };
}
