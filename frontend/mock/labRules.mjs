/** Candidate rules of the lab for the mock server: one in each state, and the review of each. */
const ID = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const CAMPAIGN = ID(802);

const yaml = (name, title) => `rules:
- title: ${title}
  models:
  - CX-6
  definition:
    rule: ${name}
    blast_radius: rnic
    raise_for_s: 30
    clear_for_s: 60
    conditions:
    - signal: flows_offloaded
      role: required
      window_s: 30
      statistic: mean
      raise:
        at_least: 7201.0
      clear:
        below: 6480.0
      text: Offloaded flows, bad from 7201 on in the lab.
      why: 'Measured on Simulated CX-6: last good 7200, first bad 7201. Cleared 10% away from the last good value.'
    severity: warning
`;

function rule(n, state, more) {
  const name = `L${n}/1`;
  const title = "State in which the lab saw a decline of bw_gbps";
  return {
    id: ID(900 + n),
    name,
    title,
    state,
    problem: null,
    campaign_id: CAMPAIGN,
    cause: 10 + n,
    cause_text: "bw_gbps gets worse when flows is at least 7,201 and jumbo is on.",
    device: "Simulated CX-6",
    models: ["CX-6"],
    not_checked: ["jumbo is on"],
    evidence: {
      proven: true,
      confidence: 0.97,
      thresholds: [{ parameter: "flows", last_good: 7200, first_bad: 7201, step: 1, unit: "flows" }],
      permutation: [{ parameter: "flows", pairs: 8, held: 8, kept: true }],
      verification: { inside: { agree: 10, of: 10 }, outside: { agree: 19, of: 20 } },
    },
    yaml: yaml(name, title),
    proposed_by: "dana",
    proposed_at: "2026-11-21T03:00:00Z",
    decided_by: null,
    decided_at: null,
    comment: null,
    ...more,
  };
}

const decided = (comment) => ({ decided_by: "admin", decided_at: "2026-11-21T09:00:00Z", comment });

export class LabRules {
  constructor(kind) {
    this.all =
      kind === "empty"
        ? []
        : [
            rule(3, "proposed", {}),
            rule(2, "accepted", decided("seen on two hosts of rack 12")),
            rule(1, "rejected", decided("too wide: every host with jumbo frames")),
          ];
    this.reads = [[/^\/lab\/rules$/, (_, query) => this.list(query)]];
    this.writes = [
      ["POST", /^\/lab\/campaigns\/([^/]+)\/rules$/, ([, id], body) => this.propose(id, body)],
      ["POST", /^\/lab\/rules\/([^/]+)\/accept$/, ([, id], body) => this.decide(id, "accepted", body)],
      ["POST", /^\/lab\/rules\/([^/]+)\/reject$/, ([, id], body) => this.decide(id, "rejected", body)],
    ];
  }

  list(query) {
    const campaign = query.get("campaign_id");
    return { items: this.all.filter((each) => !campaign || each.campaign_id === campaign), next_cursor: null };
  }

  propose(campaign, { cause }) {
    const made = rule(this.all.length + 1, "proposed", { campaign_id: campaign, cause });
    this.all.unshift(made);
    return made;
  }

  decide(id, state, { comment }) {
    const found = this.all.find((each) => each.id === id);
    return found ? Object.assign(found, { state, ...decided(comment) }) : null;
  }
}
