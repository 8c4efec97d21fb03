"""The cases of the evaluation. Each runs once and its result is stored, so an interrupted run can continue."""

import json
import resource
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.plans.course import Course, run
from tests.plans.workloads import CAPACITY, mixed, pair

WINDOWS = {"before": (10.0, 20.0), "after": (115.0, 130.0), "new tenants": (135.0, 150.0), "planned again": (185.0, 200.0)}
"""Seconds: between the start and the first plan, after it was applied, after new tenants came, and after they were planned for."""
END_S, PLAN_AT = 200.0, (20.0, 150.0)
PAIR = ("host01", "host02")
MIXED_HOSTS, MIXED_SEEDS = 40, (1, 2)
MIXED_WINDOW = (60.0, 120.0)

Case = Callable[[Path], dict[str, Any]]


def cases(flows: int) -> dict[str, Case]:
    """All of them, by name, in the order in which they are run; `flows` on each RNIC."""
    found: dict[str, Case] = {f"with {model}": _pair(model, flows, True) for model in CAPACITY}
    found |= {f"without {model}": _pair(model, flows, False) for model in CAPACITY}
    for seed in MIXED_SEEDS:
        found |= {f"mixed {seed} with": _mixed(seed, True), f"mixed {seed} without": _mixed(seed, False)}
    for idle_s in (10, 60):
        for warm in (True, False):
            found[f"{'warm' if warm else 'cold'}, max-idle {idle_s} s"] = _warm(idle_s, warm)
    return found


def result(folder: Path, program: Path, flows: int, name: str) -> dict[str, Any]:
    """The result of a case; the case runs unless its result is stored."""
    kept = folder / f"{name.replace(' ', '-')}.json"
    if kept.exists():
        known: dict[str, Any] = json.loads(kept.read_text())
        return known
    begin = _cpu_s(), time.time()
    found = cases(flows)[name](program)
    found |= {"cpu_s": _cpu_s() - begin[0], "wall_s": time.time() - begin[1]}
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found, indent=1))
    return found


def _cpu_s() -> float:
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def window(course: Course, host: str, since_s: float, until_s: float) -> dict[str, float]:
    """One RNIC's figures in a time window."""

    def of(side: str, name: str) -> float:
        return course.mean(host, side, name, since_s, until_s)

    sent = {name: of("egress", name) + of("ingress", name) for name in ("ExactGbps", "OwnGbps", "SoftwareGbps")}
    return {
        "bandwidth_gbps": of("egress", "BandwidthGbps"),
        "latency_us": of("egress", "LatencyUs"),
        "q_l": of("egress", "QL"),
        "q_r": of("egress", "QR"),
        "sent_gbps": sum(sent.values()),
        "exact_share": sent["ExactGbps"] / (sum(sent.values()) or 1.0),
        "software_share": sent["SoftwareGbps"] / (sum(sent.values()) or 1.0),
        "queries_of_others": of("egress", "OwnQueries"),
        "missed_per_s": course.count(host, "missed", since_s, until_s) / (until_s - since_s),
        "inserted_per_s": course.count(host, "inserted", since_s, until_s) / (until_s - since_s),
    }


def _pair(model: str, flows: int, planned: bool) -> Case:
    def case(program: Path) -> dict[str, Any]:
        models = dict.fromkeys(PAIR, model)
        course = run(program, pair(model, flows=flows), models, END_S, PLAN_AT if planned else (), hosts=PAIR)
        curve = [
            {"at_s": one["at_s"], "flows": one["hosts"][PAIR[0]]["offloaded_flows"], **_short(one["hosts"][PAIR[0]]["rnics"][0]["egress"])}
            for one in course.samples
            if one["at_s"] % 5 == 0
        ]
        return {
            "windows": {host: {name: window(course, host, *times) for name, times in WINDOWS.items()} for host in PAIR},
            "plans": [asdict(one) for one in course.plans],
            "curve": curve,
        }

    return case


def _short(side: dict[str, float]) -> dict[str, float]:
    return {
        "bandwidth_gbps": round(side["BandwidthGbps"], 2),
        "latency_us": round(side["LatencyUs"], 3),
        "q_l": round(side["QL"], 2),
        "exact_gbps": round(side["ExactGbps"], 2),
        "software_gbps": round(side["SoftwareGbps"], 3),
    }


def _mixed(seed: int, planned: bool) -> Case:
    def case(program: Path) -> dict[str, Any]:
        names = [f"host{number + 1:02d}" for number in range(MIXED_HOSTS)]
        models = {name: list(CAPACITY)[number % len(CAPACITY)] for number, name in enumerate(names)}
        course = run(program, mixed(MIXED_HOSTS, seed), models, MIXED_WINDOW[1], (30.0,) if planned else (), hosts=names)
        return {
            "hosts": {name: window(course, name, *MIXED_WINDOW) for name in names},
            "plans": [asdict(one) for one in course.plans],
            "not_worthwhile": course.not_worthwhile,
        }

    return case


def _warm(idle_s: int, warm: bool) -> Case:
    def case(program: Path) -> dict[str, Any]:
        model = "CX-6"
        settings = "\n".join(
            ["settings:", *(f"  - {{host: {host}, other_config: {{max-idle: '{idle_s * 1000}'}}}}" for host in PAIR)],
        )
        scenario = pair(model, flows=3600, settings=settings)
        course = run(program, scenario, dict.fromkeys(PAIR, model), 125.0, (75.0,), warm=warm, hosts=PAIR)
        return {
            "windows": {host: window(course, host, 85.0, 125.0) for host in PAIR},
            "plans": [asdict(one) for one in course.plans],
        }

    return case
