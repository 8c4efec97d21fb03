/** SLO classes and rules of the mock: kept in memory, previewed over a few RNICs, refused where minima exceed a link. */
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const PORT_MBPS = 100_000;
/** RNICs that a preview looks at: as many as a page of it shows. */
const PREVIEWED = 6;

const known = (name, min_mbps, max_mbps, p50_us, p99_us, loss, description) => ({
  name,
  min_mbps,
  max_mbps,
  p50_us,
  p99_us,
  loss,
  description,
  version: 3,
  updated_at: ago(86_400),
  updated_by: "dana",
});

const CLASSES = [
  known(
    "bulk",
    500,
    25_000,
    null,
    null,
    null,
    "Training and indexing: much bandwidth when it is free, no bound of delay.",
  ),
  known("gold", 1000, 10_000, 10, 50, 0.0001, "Interactive services that page somebody."),
  known("silver", 500, 5000, 20, 200, 0.001, ""),
];

const rule = (slo_class, ...matchers) => ({
  slo_class,
  matchers: matchers.map(([name, op, value]) => ({ name, op, value })),
});

const RULES = [
  rule("gold", ["namespace", "=", "payments"]),
  rule("bulk", ["namespace", "=~", "ml|ads"]),
  rule("silver", ["namespace", "!=", ""]),
];

function holds({ name, op, value }, vf) {
  const actual = String({ ...vf, namespace: vf.tenant, pod: vf.pod?.split("/")[1], rack: vf.rack }[name] ?? "");
  const equal = op.endsWith("~") ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  return op.startsWith("!") ? !equal : equal;
}

export class Slos {
  constructor(isolation, kind) {
    this.isolation = isolation;
    this.known = kind === "empty" ? [] : CLASSES.map((each) => ({ ...each }));
    this.stored = {
      rules: kind === "empty" ? [] : RULES,
      version: 4,
      updated_at: kind === "empty" ? null : ago(7200),
      updated_by: kind === "empty" ? null : "dana",
    };
  }

  classes() {
    return this.known.map((each) => ({
      ...each,
      rules: this.stored.rules.filter((rule) => rule.slo_class === each.name).length,
    }));
  }

  promise(name, rule = 0) {
    const found = this.known.find((each) => each.name === name);
    if (!found) return null;
    const { min_mbps, max_mbps, p50_us, p99_us, loss } = found;
    return { name, min_mbps, max_mbps, p50_us, p99_us, loss, source: "rule", rule };
  }

  assigned(rules, vf) {
    const at = rules.findIndex((each) => each.matchers.every((matcher) => holds(matcher, vf)));
    return at < 0 ? null : this.promise(rules[at].slo_class, at);
  }

  preview({ rules }) {
    const { fleet } = this.isolation;
    const vfs = [];
    const refused = [];
    for (let i = 0; i < Math.min(PREVIEWED, fleet.host.length); i++) {
      const place = { host: fleet.host[i], pci: fleet.pci[i] };
      const here = this.isolation
        .cast(i)
        .filter((player) => player.pod !== null)
        .map((player) => {
          const vf = { ...place, ...this.isolation.who(player) };
          const about = { ...vf, model: fleet.model[i], rack: fleet.rack[i] };
          return {
            ...vf,
            slo: this.assigned(rules, about),
            before: this.assigned(this.stored.rules, about)?.name ?? null,
          };
        });
      const sum = here.reduce((total, { slo }) => total + (slo?.min_mbps ?? 0), 0);
      if (sum > PORT_MBPS) refused.push({ ...place, sum_min_mbps: sum, port_mbps: PORT_MBPS });
      vfs.push(...here);
    }
    const changes = (vf) => (vf.slo?.name ?? null) !== vf.before;
    vfs.sort((a, b) => Number(changes(b)) - Number(changes(a)));
    return { vfs, vfs_total: vfs.length, changed: vfs.filter(changes).length, refused };
  }

  create(body) {
    const made = { ...known(body.name), ...body, version: 1, updated_at: ago(0), updated_by: "admin" };
    this.known = [...this.known, made].sort((a, b) => a.name.localeCompare(b.name));
    return this.classes().find((each) => each.name === body.name);
  }

  update(name, body) {
    const found = this.known.find((each) => each.name === name);
    if (!found) return null;
    Object.assign(found, body, { version: found.version + 1, updated_at: ago(0), updated_by: "admin" });
    return this.classes().find((each) => each.name === name);
  }

  remove(name) {
    this.known = this.known.filter((each) => each.name !== name);
    return {};
  }

  save({ rules }) {
    this.stored = { rules, version: this.stored.version + 1, updated_at: ago(0), updated_by: "admin" };
    return this.stored;
  }

  writes = [
    ["POST", /^\/isolation\/slo-classes$/, (_, body) => this.create(body)],
    ["PUT", /^\/isolation\/slo-classes\/([^/]+)$/, ([, name], body) => this.update(name, body)],
    ["DELETE", /^\/isolation\/slo-classes\/([^/]+)$/, ([, name]) => this.remove(name)],
    ["PUT", /^\/isolation\/slo-rules$/, (_, body) => this.save(body)],
    ["POST", /^\/isolation\/slo-rules\/preview$/, (_, body) => this.preview(body)],
  ];
}
