"""The workloads of the evaluation. They were chosen before any measurement with a plan; docs/plan-evaluation.md explains how."""

import random

FLOWS = 15_000
"""Flows on each RNIC (paper, section 5.2)."""
MASKS = 20
"""Prefix combinations of the tenants on each RNIC. Without a plan the RNICs then lose about as much as the paper's at 15,000 flows
(Figure 14: 41% on a CX-4, 70 Gbit/s on an E810)."""
SIZES = (200, 200, 300, 500, 900, 1800, 1800, 1800)
"""Flows of each group; all groups ask for the same bandwidth together, which makes a flow's share fall with its rank as in Zipf's law."""
CAPACITY = {"CX-4": 38, "CX-5": 79, "CX-6": 158, "CX-7": 352, "BF-3": 354, "E810": 170}
"""Bandwidth of each model without masks, in Gbit/s: the total demand of both jobs of an RNIC."""


def pair(model: str, masks: int = MASKS, flows: int = FLOWS, seed: int = 11, settings: str = "") -> str:
    """Two hosts with an RNIC of the same model, which exchange traffic: half of an RNIC's flows belong to its own tenants, half to those of
    its peer. Long flows, flows that live for two minutes, and small ones that send for 4 s and rest for 20 s. New tenants come later."""
    share = flows / FLOWS
    gbps = CAPACITY[model] / 2 / len(SIZES)
    jobs = []
    for at, size in enumerate(SIZES):
        life = ", flow_lifetime: 2m" if at == 5 else ", burst: 4s, rest: 20s" if at == 7 else ""
        count = f"containers: {2 if at % 2 else 1}, flows: {int(size * share)}, masks: {masks}"
        jobs.append(f"  - {{kind: multi-tenant, {count}, gbps: {gbps:.3f}{life}}}")
    count = f"containers: 1, flows: {int(600 * share)}, masks: {masks + 15}"
    late = f"{{kind: multi-tenant, {count}, gbps: {CAPACITY[model] / 20:.2f}}}"
    events = [f"  - {{at: 130s, host: host{n:02d}, rnic: '0000:17:00.0', job: {late}}}" for n in (1, 2)]
    return "\n".join(
        [
            f"name: plans on {model}",
            f"seed: {seed}",
            f"topology: {{hosts: 2, rnics_per_host: 1, models: [{model}], firmware: fixed}}",
            "workload:",
            *jobs,
            *([settings] if settings else []),
            "events:",
            *events,
            "",
        ]
    )


def mixed(hosts: int, seed: int) -> str:
    """Hosts with one RNIC each, of all models, and mixed workloads: many with few masks and few flows, some that compute and hardly
    talk, some whose flows come and go, some with long chains."""
    rng = random.Random(seed)
    overrides = []
    models = list(CAPACITY)
    for host in range(hosts):
        model = models[host % len(models)]
        kind = rng.choice(("few", "few", "compute", "churn", "chains", "chains"))
        load = CAPACITY[model] / 2 * rng.uniform(0.2, 1.0)
        flows, masks, extra = {
            "few": (rng.randrange(40, 300), 0, ""),
            "compute": (rng.randrange(100, 400), rng.randrange(0, 30), ", burst: 2s, rest: 25s"),
            "churn": (rng.randrange(100, 400), rng.randrange(2, 40), ", flow_lifetime: 10s"),
            "chains": (rng.randrange(300, 900), rng.randrange(8, 60), rng.choice(("", ", flow_lifetime: 90s", ", late_share: 0.8"))),
        }[kind]
        load *= 0.05 if kind == "compute" else 1.0
        name = f"host{host + 1:02d}"
        job = f"{{kind: multi-tenant, containers: 4, flows: {flows}, masks: {masks}, gbps: {load:.3f}{extra}}}"
        overrides.append(f"  - {{host: {name}, rnic: '0000:17:00.0', workload: [{job}]}}")
    return "\n".join(
        [
            "name: a mixed fleet",
            f"seed: {seed}",
            f"topology: {{hosts: {hosts}, rnics_per_host: 1, models: [{', '.join(models)}], firmware: fixed}}",
            "workload:",
            "  - {kind: training, containers: 1, flows: 2, gbps: 0.1}",
            "overrides:",
            *overrides,
            "",
        ]
    )
