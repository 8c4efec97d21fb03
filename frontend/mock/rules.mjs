/** Rules of the automatic mode for the mock server. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

export class Rules {
  constructor(fleet, kind) {
    this.all = [];
    if (kind === "empty" || fleet.host.length === 0) return;
    this.place = { host: fleet.host[0], pci: fleet.pci[0] };
    this.create({
      name: "Late counters in pod 7",
      action: "tune-revalidator",
      params: { max_idle_ms: 60000 },
      trigger: "finding",
      matchers: [
        { name: "symptom", op: "=", value: "S1" },
        { name: "rack", op: "=~", value: "r[1-4]" },
      ],
      window_from: "22:00",
      window_to: "05:00",
      cooldown_s: 3600,
    });
    this.create({
      name: "Order masks before it hurts",
      action: "apply-mask-plan",
      params: {},
      trigger: "decline",
      matchers: [{ name: "model", op: "=", value: "CX-6" }],
      cooldown_s: 3600,
    });
    this.turn(this.all[0].id, true);
  }

  create(body) {
    const rule = {
      window_from: null,
      window_to: null,
      trigger: "finding",
      ...body,
      id: ID(950 + this.all.length),
      enabled: false,
      created_by: "admin",
      created_at: ago(9000),
      updated_at: ago(9000),
      enabled_by: null,
      enabled_at: null,
      needs_approval: body.action === "apply-mask-plan",
      open_runs: 0,
    };
    this.all.push(rule);
    return rule;
  }

  turn(id, on) {
    const rule = this.all.find((each) => each.id === id);
    return rule
      ? Object.assign(rule, {
          enabled: on,
          enabled_by: on ? "admin" : null,
          enabled_at: on ? ago(0) : null,
          open_runs: on ? 1 : 0,
        })
      : null;
  }

  remove(id) {
    this.all = this.all.filter((each) => each.id !== id);
    return {};
  }

  runs(id) {
    if (this.all[0]?.id !== id) return [];
    const run = (n, state, message, ended) => ({
      id: ID(970 + n),
      finding_id: ID(90),
      incident_id: ID(11),
      ...this.place,
      state,
      message,
      plan_id: null,
      dry_run_id: ID(902),
      remedy_id: state === "waiting" ? null : ID(903),
      created_at: ago(600 * n + 60),
      updated_at: ago(600 * n),
      ended_at: ended ? ago(600 * n) : null,
      steps: [
        { at: ago(600 * n + 60), state: "planning", text: "Requested the dry run.", plan_id: null, remedy_id: ID(902) },
        {
          at: ago(600 * n + 55),
          state: "waiting",
          text: "The dry run has nothing against it.",
          plan_id: null,
          remedy_id: null,
        },
      ],
    });
    return [
      run(0, "waiting", "Remedies are under way on 3 hosts, 3 is the most; wait until some are confirmed.", false),
      run(1, "confirmed", "Telemetry confirms the remedy.", true),
      run(2, "gave_up", "The agent refused the dry run: the bridge has no port that offloads.", true),
    ];
  }
}
