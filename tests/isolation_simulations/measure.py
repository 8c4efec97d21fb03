"""Run the cases and return figures."""

import random
import time
from fractions import Fraction
from typing import Any

import numpy as np
from tests.isolation_simulations import cases

from wallwatch.domain.isolation.shares.vm_pairs import ingress_shares, pair_rates
from wallwatch.domain.isolation.shares.water_filling import Request, fair_shares
from wallwatch.domain.isolation.simulation.egress import simulate_egress
from wallwatch.domain.isolation.simulation.ingress import VfCourse, simulate_ingress
from wallwatch.domain.isolation.simulation.pccb import ALPHA, Senders, simulate_pccb
from wallwatch.domain.isolation.simulation.pccp import STEADY, PccpParameters
from wallwatch.domain.isolation.simulation.report import figures
from wallwatch.domain.isolation.simulation.scenario import NO_MECHANISMS, Scenario

ALPHAS = (0.5, 0.7, 0.9, 1.0)
DELAYS_US = (48.0, 96.0, 192.0)
FACTORS = (1.1, 1.5, 2.0, 2.5, 3.0, 4.0)
SHARE, LINE = 12.0, 20.0
CHANGE_US = 20_480.0


def everything() -> dict[str, Any]:
    """All figures of the page; some minutes of computing."""
    return {
        "figure_7b": figure_7b(),
        "shares_ms": shares_of_many_vfs(),
        "pccb": {
            "changes": [
                (alpha, delay, [pccb_join(senders, alpha, delay) for senders in (2, 10, 100)], pccb_leave(100, alpha, delay))
                for alpha in ALPHAS
                for delay in DELAYS_US
            ],
            "epochs": [(epoch, [pccb_join(2, ALPHA, delay, epoch) for delay in (96.0, 144.0, 192.0)]) for epoch in (128.0, 512.0, 2048.0)],
        },
        "streams": [("4 and 200 streams (figure 8a)", stream_shares(4, 200)), ("1 and 50", stream_shares(1, 50))],
        "nic_drops": [(factor, *nic_drops(factor)) for factor in FACTORS],
        "egress": egress(),
        "floods_256": floods(256),
        "floods_100": floods(100),
        "probe_thresholds": probe_thresholds(),
        "pccp": {"variants": pccp_variants(), "thresholds": pccp_thresholds()},
    }


def figure_7b() -> list[tuple[str, str, str]]:
    """Flows, the receivers' shares, the rates."""
    rows = []
    for flows in ("AC", "AC BC", "AC BC BD", "AC BC BD AD"):
        pairs = [(flow[0], flow[1]) for flow in flows.split()]
        rates = pair_rates(cases.NICS, cases.VMS, pairs)
        shares = ingress_shares(cases.NICS, cases.VMS, pairs)
        rows.append((flows, f"C {shares['C']}, D {shares['D']}", ", ".join(str(rate) for rate in rates.values())))
    return rows


def shares_of_many_vfs(count: int = 10_000) -> float:
    """CPU milliseconds for this many VFs on one NIC, the best of five."""
    chance = random.Random(1)
    requests = [
        Request(Fraction(chance.randint(0, 500), 10), Fraction(chance.randint(500, 9000), 10), chance.random() < 0.8) for _ in range(count)
    ]
    capacity = sum(Fraction(request.min) for request in requests) * Fraction(6, 5)
    return min(_cpu_ms(capacity, requests) for _ in range(5))


def _cpu_ms(capacity: Fraction, requests: list[Request]) -> float:
    started = time.process_time()
    fair_shares(capacity, requests)
    return 1000 * (time.process_time() - started)


def pccb_join(senders: int, alpha: float, delay_us: float, epoch_us: float = 512) -> float | None:
    """Milliseconds until 2%, when one sender is joined by the others; the worst of eight moments within an epoch."""
    settled = []
    for offset in range(8):
        at = CHANGE_US + offset * epoch_us / 8
        groups = [Senders(1, SHARE), Senders(senders - 1, SHARE, from_us=at)]
        run = simulate_pccb(groups, SHARE, LINE, 60_000, epoch_us=epoch_us, delay_us=delay_us, alpha=alpha)
        settled.append(run.settled_us(at, SHARE))
    return None if None in settled else max(one for one in settled if one is not None) / 1000


def pccb_leave(senders: int, alpha: float, delay_us: float) -> float | None:
    """Milliseconds until 2%, when all senders but one stop."""
    groups = [Senders(1, SHARE), Senders(senders - 1, SHARE, until_us=CHANGE_US)]
    settled = simulate_pccb(groups, SHARE, LINE, 60_000, delay_us=delay_us, alpha=alpha).settled_us(CHANGE_US, SHARE)
    return None if settled is None else settled / 1000


def pccp(scenario: Scenario) -> dict[str, float]:
    """Delays of the flooded VF (means of the epochs, as the controller sees them, and packets), of the other VF, and goodput."""
    courses = simulate_ingress(scenario)
    flooded, other = courses["C"], courses["D"]
    epochs = [one.delay_us for one in flooded.epochs if one.delay_us is not None and one.at_us > scenario.warmup_ms * 1000]
    return {
        "mean_us": float(np.mean(epochs)),
        "p99_us": float(np.percentile(epochs, 99)),
        "packet_mean_us": float(flooded.delays_us.mean()),
        "packet_p99_us": float(np.percentile(flooded.delays_us, 99)),
        "other_mean_us": float(other.delays_us.mean()),
        "other_p99_us": float(np.percentile(other.delays_us, 99)),
        "goodput_mpps": flooded.processed / flooded.measured_us,
        "drops": flooded.nic_drops + flooded.queue_drops,
    }


def pccp_variants() -> list[tuple[str, dict[str, float]]]:
    """Which constants, and which reading of the target rate?"""
    rows = []
    for name, beta, increment, seeds in (
        ("beta 0.8, 1%", 0.8, 0.01, cases.SEEDS[:1]),
        ("beta 0.1, 0.02%", STEADY.beta, STEADY.increment, cases.SEEDS),
    ):
        for reading, old in (("Algorithm 1", False), ("the text", True)):
            parameters = PccpParameters(beta=beta, increment=increment, recover_old_rate=old)
            for epoch_us, warmup_ms, duration_ms in ((512.0, 200, 600), (5000.0, 500, 1300)):
                scenarios = [
                    cases.extreme_overload(parameters, epoch_us=epoch_us, seed=seed, warmup_ms=warmup_ms, duration_ms=duration_ms)
                    for seed in seeds
                ]
                runs = [pccp(scenario) for scenario in scenarios]
                means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
                rows.append((f"{name} | {reading} | {epoch_us / 1000:g} ms", means))
    return rows


def pccp_thresholds() -> list[tuple[float, dict[str, float]]]:
    """The setup of figure 10 with other thresholds."""
    thresholds = (5.0, 7.5, 10.0, 15.0, 20.0)
    return [
        (one, pccp(cases.extreme_overload(PccpParameters(one, beta=STEADY.beta, increment=STEADY.increment), warmup_ms=800)))
        for one in thresholds
    ]


def flood(scenario: Scenario) -> dict[str, float]:
    """Figures 7c to 7e and 11: goodput of the floods, drops at the NIC, and the delay of the probes."""
    found = figures(scenario, simulate_ingress(scenario))
    return {
        "goodput_mpps": (found["C"].received_kpps + found["D"].received_kpps) / 1000,
        "nic_drops_per_s": sum(one.nic_drops_per_s for one in found.values()),
        "queue_drops_per_s": sum(one.queue_drops_per_s for one in found.values()),
        "probe_us": found["F"].delay_mean_us or float("nan"),
    }


def floods(packet_bytes: int) -> list[tuple[str, dict[str, float]]]:
    """Without anything, with more and more mechanisms; the last from the first packet on, so with what it costs to react."""
    rows = [(one.words(), flood(cases.two_floods_and_a_probe(one, packet_bytes))) for one in (NO_MECHANISMS, cases.CWFQ, cases.CWFQ_PCCB)]
    rows.append(("all, from its first packet", flood(cases.two_floods_and_a_probe(cases.ALL, packet_bytes, warmup_ms=0, duration_ms=1000))))
    rows.append(("all, after 400 ms", flood(cases.two_floods_and_a_probe(cases.ALL, packet_bytes, warmup_ms=400, duration_ms=800))))
    return rows


def probe_thresholds() -> list[tuple[float, dict[str, float]]]:
    """Figure 11: packets of 100 bytes, other thresholds."""
    return [
        (one, flood(cases.two_floods_and_a_probe(cases.ALL, 100, threshold_us=one, warmup_ms=400, duration_ms=700)))
        for one in (5.0, 7.5, 10.0, 20.0)
    ]


def nic_drops(factor: float) -> tuple[float, float]:
    """Drops per second at the NIC without and with fair queues, at this multiple of the engine's capacity."""
    scenarios = [cases.overload(factor, mechanisms) for mechanisms in (NO_MECHANISMS, cases.CWFQ)]
    without, with_queues = (sum(one.nic_drops for one in simulate_ingress(scenario).values()) / 0.1 for scenario in scenarios)
    return without, with_queues


def stream_shares(few: int, many: int) -> dict[str, float]:
    """Shares of CPU time over 100 ms: without fair queues, with them (the worst of the seeds), and Jain's index."""
    plain = simulate_ingress(cases.streams(few, many, NO_MECHANISMS, 1))
    fair = [simulate_ingress(cases.streams(few, many, cases.CWFQ, seed)) for seed in cases.SEEDS]
    worst = max((_cpu_shares(one) for one in fair), key=lambda shares: abs(shares[0] - 0.5))
    return {
        "plain": _cpu_shares(plain)[0],
        "fair": worst[0],
        "error": abs(worst[0] - 0.5) / 0.5,
        "jain": sum(worst) ** 2 / (2 * sum(x * x for x in worst)),
    }


def _cpu_shares(courses: dict[str, VfCourse]) -> list[float]:
    total = sum(course.cpu_us for course in courses.values())
    return [course.cpu_us / total for course in courses.values()]


def egress() -> list[tuple[str, dict[str, Any]]]:
    """Figure 8b and table 4."""
    setups = (
        ("alone", cases.ALONE, True),
        ("figure 8b without accounting", cases.NOISY_NEIGHBOUR, False),
        ("figure 8b with accounting", cases.NOISY_NEIGHBOUR, True),
        ("table 4, early completions, no NAPI-TX", cases.EARLY, True),
        ("in-order completions (section 2.1)", cases.IN_ORDER, True),
        ("table 4, out-of-order completions, NAPI-TX", cases.OUT_OF_ORDER, True),
    )
    rows = []
    for name, settings, accounting in setups:
        run = simulate_egress(settings, accounting=accounting)
        fast, *slow = run.flows.values()
        row = {"fast_mbps": fast.mbps, "slow_mbps": slow[0].mbps if slow else None, "waiting": run.wheel_occupancy}
        rows.append((name, {**row, "kdrops_per_s": sum(one.drops for one in slow) / 140}))
    return rows
