"""Samples per second that `classify` handles, of all that it reads, and the share of a core that the fleet requires.

First it works through a backlog, in which the messages of one host lie far from each other; then messages come as a fleet sends them, in
its own time: every 10 s all of a host together. WALLWATCH_BENCH_RNICS is the size of that fleet (16,000, which leaves room on two cores for
those who send; 40,000 for the memory of the paper's fleet), WALLWATCH_BENCH_MESSAGES the backlog (four samples of each RNIC),
WALLWATCH_BENCH_STEADY_S the length of the second part (30), WALLWATCH_BENCH_PROCESSES the number of processes that share the
partitions (1), WALLWATCH_BENCH_FORM=single sends each sample as a message of its own. Both parts end when all offsets are committed."""

import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.bench.ingest import FORM, PROCESSES, send_measurements, topics_of
from tests.bench.ingest import RNICS as FLEET
from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.settings import Settings
from wallwatch_testing import telemetry_path
from wallwatch_testing.kafka_lag import committed, ends
from wallwatch_testing.stack import wait_for

RNICS = int(os.environ.get("WALLWATCH_BENCH_RNICS", "16000"))
BACKLOG = int(os.environ.get("WALLWATCH_BENCH_MESSAGES", str(RNICS * 22 // 10 * 4)))
STEADY_S = float(os.environ.get("WALLWATCH_BENCH_STEADY_S", "30"))
PER_S = FLEET / 10 * 2 + FLEET / 5 / 10
"""What 40,000 RNICs send at 10 s: `rnic` and `rnic_offload` of each, `ovs_datapath` of each host of five."""
SENT_PER_S = PER_S * RNICS / FLEET
COMMIT_S = "5"
"""Rates are those of committed offsets, so checkpoints come more often than by default, and cost more."""
MEASUREMENTS = ("rnic", "rnic_offload", "ovs_datapath", "event")
TOPICS = topics_of(MEASUREMENTS)


def main() -> None:
    """Measure and report."""
    group = Settings().classify_group
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, telemetry_path.start(Path(folder), partitions=12) as path:
        bootstrap = path.kafka.address
        backlog = send_measurements(bootstrap, BACKLOG, -1, MEASUREMENTS, RNICS)
        total = sum(ends(bootstrap, TOPICS).values())

        def done() -> int:
            return sum(committed(bootstrap, group, TOPICS).values())

        begin = time.monotonic()
        with ExitStack() as jobs:
            processes = [jobs.enter_context(path.job("classify", WALLWATCH_CLASSIFY_COMMIT_S=COMMIT_S)) for _ in range(PROCESSES)]
            # Starting takes time and does not affect the rate.
            first = wait_for("the first checkpoint", done, timeout_s=120, pause_s=0.1)
            first_s = time.monotonic() - begin
            wait_for("the backlog's end", lambda: done() >= total, timeout_s=400, pause_s=0.2)
            all_s = time.monotonic() - begin
            used = [usage(one.pid) for one in processes]
            steady = send_measurements(bootstrap, int(SENT_PER_S * STEADY_S), 0, MEASUREMENTS, RNICS)
            behind = sum(ends(bootstrap, TOPICS).values()) - done()
            wait_for("the end", lambda: done() >= sum(ends(bootstrap, TOPICS).values()), timeout_s=400, pause_s=0.2)
            in_all = [usage(one.pid) for one in processes]
    per_message = backlog["samples"] / backlog["messages"]
    steady_us = sum(after.cpu_s - before.cpu_s for before, after in zip(used, in_all, strict=True)) / steady["samples"] * 1e6
    report(
        "classify",
        cores_for_the_fleet_at_10_s=PER_S * steady_us / 1e6,
        cpu_us_per_sample_as_it_comes=steady_us,
        not_committed_when_the_last_was_sent=behind,
        form=FORM,
        fleet_samples_per_s=PER_S,
        samples_per_s=(total - first) * per_message / max(all_s - first_s, 1e-9),
        samples_per_s_with_start=backlog["samples"] / all_s,
        first_checkpoint_s=first_s,
        samples=backlog["samples"],
        rnics=RNICS,
        cpu_us_per_sample=sum(one.cpu_s for one in used) / backlog["samples"] * 1e6,
        peak_rss_mb=max(one.peak_rss_mb for one in in_all),
        processes=PROCESSES,
    )


if __name__ == "__main__":
    main()
