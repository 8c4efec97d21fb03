"""From which history on a Dask cluster pays for training: the same history on one machine alone and on a scheduler with two workers.

Synthetic fleets of WALLWATCH_BENCH_TRAINING_RNICS ("40,160,640") over a day, in parts of 20 RNICs. Each training has a process of its own,
so that its memory is not that of another. Alone, LightGBM has two threads, as many as the workers have together.
"""

import multiprocessing
import os
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

import dask
from dask.distributed import Client, LocalCluster
from tests.bench.forecast import history
from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.forecasting.training import distributed
from wallwatch.forecasting.training.train import train

SIZES = [int(text) for text in os.environ.get("WALLWATCH_BENCH_TRAINING_RNICS", "40,160,640").split(",")]
PART_RNICS = 20
DAY_MIN = 1440
EVERY_MIN = 5
WORKERS = 2


def alone(rnics: int) -> dict[str, float]:
    """All parts in one process, as `wallwatch forecast train` has them."""
    began = time.monotonic()
    parts = [history(PART_RNICS, DAY_MIN, part) for part in range(rnics // PART_RNICS)]
    train(parts, EVERY_MIN, threads=WORKERS)
    elapsed_s = time.monotonic() - began
    used = usage(os.getpid())
    return {"alone_s": elapsed_s, "alone_cpu_s": used.cpu_s, "alone_mb": used.peak_rss_mb}


def on_cluster(rnics: int) -> dict[str, float]:
    """Each part made where it is trained on, as workers read the store; the time includes starting the workers."""
    began = time.monotonic()
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        ready_s = time.monotonic() - began
        parts = [dask.delayed(history)(PART_RNICS, DAY_MIN, part) for part in range(rnics // PART_RNICS)]
        distributed.train(client, parts, EVERY_MIN)
        elapsed_s = time.monotonic() - began
        of_workers = list(client.run(lambda: usage(os.getpid())).values())
    here = usage(os.getpid())
    return {
        "cluster_s": elapsed_s,
        "cluster_ready_s": ready_s,
        "cluster_cpu_s": here.cpu_s + sum(one.cpu_s for one in of_workers),
        "cluster_client_mb": here.peak_rss_mb,
        "cluster_worker_mb": max(one.peak_rss_mb for one in of_workers),
    }


def _in_process(answer: Connection, way: Any, rnics: int) -> None:
    answer.send(way(rnics))


def apart(way: Any, rnics: int) -> dict[str, float]:
    """The result of one way, in a new process."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_in_process, args=(there, way, rnics))
    process.start()
    there.close()
    try:
        found: dict[str, float] = here.recv()
    except EOFError:
        sys.exit(f"training with {rnics} RNICs ended without a result")
    process.join()
    return found


def main() -> None:
    """Measure each size both ways."""
    for rnics in SIZES:
        figures = {**apart(alone, rnics), **apart(on_cluster, rnics)}
        report("training", rnics=rnics, rnic_hours=rnics * DAY_MIN // 60, workers=WORKERS, **figures)


if __name__ == "__main__":
    main()
