"""Adaptive profiling against a grid and random configurations of the same quota, and against ten times as many. One core.

Six functions walk a table of their flows in a cache that a bench shares; what a packet costs, how often it looks up and how large a flow's
entry is differ. Each profile trains the product's memory model, which then predicts 300 other configurations (without noise), half of them
in the first quarter of the range of flows. WALLWATCH_SEEDS sets how many draws of noise and of random configurations are averaged.
"""

import os
from collections.abc import Callable

import numpy as np
from pipelines.tests.domain.contention.contended_card import Array, Cache, counters
from tests.bench.report import report

from wallwatch.domain.contention import memory_model
from wallwatch.domain.contention.adaptive import Attribute, Traffic, profile

QUOTA, MANY, NOISE = 50, 200, 0.01
FLOWS = Attribute(500.0, 64_000.0, 16_000.0)
FUNCTIONS = {
    "flow classifier": Cache(base_us=1.2, references=5, bytes_per_flow=64),
    "nat": Cache(base_us=1.0, references=9, bytes_per_flow=96),
    "flow tracker": Cache(base_us=0.8, references=18, bytes_per_flow=220),
    "flow monitor": Cache(base_us=1.7, references=15, bytes_per_flow=190),
    "flow stats": Cache(base_us=1.2, references=11, bytes_per_flow=150),
    "ip tunnel": Cache(base_us=0.9, references=5, bytes_per_flow=1),
}
Rows = Callable[[Cache, int], Array]


def row(cache: Cache, flows: float, present: Array, random: np.random.Generator) -> list[float]:
    return [flows, 1518.0, *present, cache.throughput(flows, present) * float(random.normal(1.0, NOISE))]


def adaptive(cache: Cache, seed: int) -> Array:
    random, rows = np.random.default_rng(seed), []

    def measure(traffic: Traffic, contention: float) -> float:
        present = counters(np.random.default_rng(int(contention * 2**53))) if contention > 0 else np.zeros(7)
        rows.append(row(cache, traffic["flows"], present, random))
        return rows[-1][-1]

    profile({"flows": FLOWS}, measure, QUOTA, seed=seed, fill=True)
    return np.array(rows)


def drawn(size: int) -> Rows:
    def rows(cache: Cache, seed: int) -> Array:
        random = np.random.default_rng(seed)
        return np.array([row(cache, float(random.uniform(FLOWS.low, FLOWS.high)), counters(random), random) for _ in range(size)])

    return rows


def grid(cache: Cache, seed: int) -> Array:
    """Ten numbers of flows, each alone and next to four benches."""
    random = np.random.default_rng(seed)
    benches = [np.zeros(7), *(counters(random) for _ in range(QUOTA // 10 - 1))]
    return np.array([row(cache, float(flows), bench, random) for flows in np.linspace(FLOWS.low, FLOWS.high, 10) for bench in benches])


def error(cache: Cache, rows: Array) -> float:
    """Mean error of the trained model, in percent; half of the configurations lie where tables still fit into the cache."""
    model = memory_model.train(rows)
    random = np.random.default_rng(12_345)
    flows = np.concatenate([random.uniform(FLOWS.low, FLOWS.high, 150), random.uniform(FLOWS.low, FLOWS.high / 4, 150)])
    queries = np.array([[each, 1518.0, *counters(random)] for each in flows])
    right = np.array([cache.throughput(query[0], query[2:]) for query in queries])
    return float(100 * np.abs(model.predict(queries) / right - 1.0).mean())


def main() -> None:
    seeds = int(os.environ.get("WALLWATCH_SEEDS", "3"))
    ways: dict[str, Rows] = {"adaptive": adaptive, "random": drawn(QUOTA), "grid": grid, f"random_{MANY}": drawn(MANY)}
    for name, cache in FUNCTIONS.items():
        errors = {way: float(np.mean([error(cache, rows(cache, seed)) for seed in range(seeds)])) for way, rows in ways.items()}
        report(f"profiling {name}", quota=QUOTA, seeds=seeds, **{f"{way}_mape_percent": round(value, 2) for way, value in errors.items()})


if __name__ == "__main__":
    main()
