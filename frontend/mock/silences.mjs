/** Silences and saved views of the mock. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const at = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();

export class Silences {
  constructor(incidents, kind) {
    this.incidents = incidents;
    const one = (n, silenceKind, matchers, from, to, reason) => ({
      id: ID(n),
      kind: silenceKind,
      matchers,
      starts_at: at(from),
      ends_at: at(to),
      reason,
      created_by: "dana",
      created_at: at(from - 60),
      updated_by: "dana",
      updated_at: at(from - 60),
      version: 1,
    });
    this.all =
      kind === "empty"
        ? []
        : [
            one(
              61,
              "silence",
              [
                { name: "symptom", op: "=", value: "S6" },
                { name: "host", op: "=~", value: "host0[1-3]" },
              ],
              -3600,
              7200,
              "Known: plan of masks rolls out on Thursday.",
            ),
            one(
              62,
              "maintenance",
              [{ name: "rack", op: "=", value: "r2" }],
              86_400,
              97_200,
              "Firmware upgrade of rack r2.",
            ),
            one(
              63,
              "silence",
              [
                { name: "severity", op: "=", value: "warning" },
                { name: "model", op: "!=", value: "BF-3" },
              ],
              -90_000,
              -50_000,
              "Load test.",
            ),
          ];
    this.next = 64;
  }

  shown(silence) {
    const now = Date.now();
    const state =
      Date.parse(silence.ends_at) <= now ? "expired" : Date.parse(silence.starts_at) > now ? "pending" : "active";
    return {
      ...silence,
      state,
      incidents: state === "active" ? this.matched(silence.matchers).filter((i) => i.state === "suppressed").length : 0,
    };
  }

  list(q) {
    const states = q.getAll("state");
    return {
      items: this.all.map((s) => this.shown(s)).filter((s) => states.length === 0 || states.includes(s.state)),
      next_cursor: null,
    };
  }

  matched(matchers) {
    return this.incidents.all.filter(
      (i) =>
        i.state !== "resolved" &&
        matchers.every(({ name, op, value }) => {
          const has = String(i[name] ?? "");
          const hit = op.endsWith("~") ? new RegExp(`^(?:${value})$`).test(has) : has === value;
          return op.startsWith("!") ? !hit : hit;
        }),
    );
  }

  preview({ matchers }) {
    const found = this.matched(matchers);
    return {
      incidents: found.length,
      rnics: found.length * 2,
      hosts: new Set(found.map((i) => i.host)).size,
      sample: found.slice(0, 5).map(({ id, title, host, pci }) => ({ id, title, host, pci })),
    };
  }

  create(body) {
    const made = {
      id: ID(this.next++),
      created_by: "admin",
      created_at: at(0),
      updated_by: "admin",
      updated_at: at(0),
      version: 1,
      ...body,
      starts_at: body.starts_at ?? at(0),
    };
    this.all.unshift(made);
    for (const i of this.matched(made.matchers))
      if (i.state !== "suppressed")
        this.incidents.touch(i, { state: "suppressed", suppressed_by: made.id }, "silenced", "Silenced by admin.");
    return this.shown(made);
  }

  change(id, body) {
    const silence = this.all.find((s) => s.id === id);
    return silence ? this.shown(Object.assign(silence, body)) : null;
  }

  end(id) {
    const silence = this.all.find((s) => s.id === id);
    if (!silence) return null;
    if (this.shown(silence).state === "pending") {
      this.all = this.all.filter((s) => s !== silence);
      return silence;
    }
    silence.ends_at = at(-1);
    for (const i of this.incidents.all)
      if (i.suppressed_by === id)
        this.incidents.touch(i, { state: "open", suppressed_by: null }, "unsilenced", "The silence ended.");
    return silence;
  }
}

export class Views {
  constructor() {
    this.all = [
      {
        id: ID(71),
        name: "Critical of rack r2",
        query: "severity=critical&rack=r2",
        shared: true,
        owner: "dana",
        mine: false,
        created_at: at(-9000),
        updated_at: at(-9000),
      },
      {
        id: ID(72),
        name: "My S1",
        query: "symptom=S1",
        shared: false,
        owner: "admin",
        mine: true,
        created_at: at(-900),
        updated_at: at(-900),
      },
    ];
  }

  create(body) {
    const view = {
      id: ID(73 + this.all.length),
      owner: "admin",
      mine: true,
      created_at: at(0),
      updated_at: at(0),
      ...body,
    };
    this.all.push(view);
    return view;
  }
}
