"""Samples per second that `ingest` moves from Kafka into TimescaleDB, and whether it keeps up with a fleet.

First a backlog is drained (the highest rate), then samples are sent at a steady rate for a while, and the lag at the end is read.
WALLWATCH_BENCH_MESSAGES is the backlog (600,000 samples), WALLWATCH_BENCH_RATE the steady rate in samples per second (20,000: with two
samples per RNIC, the paper's 40,000 RNICs at 4 s), WALLWATCH_BENCH_STEADY_S its length, WALLWATCH_BENCH_PROCESSES the number of `ingest`
processes that share the partitions (1). WALLWATCH_BENCH_FORM=single sends each sample as a message of its own, not in blocks.
"""

import json
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.settings import Settings
from wallwatch_local.paths import binary
from wallwatch_testing import telemetry_path
from wallwatch_testing.kafka_lag import lag
from wallwatch_testing.stack import wait_for

BACKLOG = int(os.environ.get("WALLWATCH_BENCH_MESSAGES", "600000"))
RATE = float(os.environ.get("WALLWATCH_BENCH_RATE", "20000"))
STEADY_S = float(os.environ.get("WALLWATCH_BENCH_STEADY_S", "30"))
PROCESSES = int(os.environ.get("WALLWATCH_BENCH_PROCESSES", "1"))
FORM = os.environ.get("WALLWATCH_BENCH_FORM", "blocks")
RNICS = 40_000
MEASUREMENTS = ("rnic", "rnic_offload")


def topics_of(measurements: tuple[str, ...]) -> tuple[str, ...]:
    """The topics in which these measurements come, in either form."""
    return (*(f"wallwatch.{name}" for name in measurements), "wallwatch.blocks")


TOPICS = topics_of(MEASUREMENTS)


def send(bootstrap: str, count: int, rate: float) -> dict[str, Any]:
    """Let fleetsim write `count` samples, and the rest of the last block; returns its report, without the time to record its tapes."""
    return send_measurements(bootstrap, count, rate, MEASUREMENTS)


def send_measurements(bootstrap: str, count: int, rate: float, measurements: tuple[str, ...], rnics: int = RNICS) -> dict[str, Any]:
    """The same for given measurements, and for fleets of other sizes."""
    command = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--rnics", str(rnics), "--rate", str(rate), "--count", str(count)]
    command += ["--measurements", ",".join(measurements), *(["--single"] if FORM == "single" else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def bytes_in_kafka(folder: Path, topics: tuple[str, ...]) -> int:
    """Bytes of the batches of these topics, as Kafka keeps them."""
    folders = [place for place in (folder / "kafka").rglob("*-*") if place.is_dir() and place.name.rpartition("-")[0] in topics]
    return sum(file.stat().st_size for place in folders for file in place.glob("*.log"))


def main() -> None:
    """Measure and report."""
    group = Settings().ingest_group
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, telemetry_path.start(Path(folder), partitions=12) as path:
        bootstrap = path.kafka.address
        backlog = send(bootstrap, BACKLOG, -1)
        size = bytes_in_kafka(path.folder, TOPICS)
        begin = time.monotonic()
        with ExitStack() as jobs:
            processes = [jobs.enter_context(path.job("ingest")) for _ in range(PROCESSES)]
            wait_for("the first commit", lambda: lag(bootstrap, group, TOPICS) < backlog["messages"], timeout_s=60, pause_s=0.1)
            ready_s = time.monotonic() - begin
            wait_for("the backlog's end", lambda: lag(bootstrap, group, TOPICS) == 0, timeout_s=300, pause_s=0.2)
            drain_s = time.monotonic() - begin
            after_backlog = [usage(one.pid) for one in processes]
            steady = send(bootstrap, int(RATE * STEADY_S), RATE)
            lag_at_end = lag(bootstrap, group, TOPICS)
            settle = time.monotonic()
            wait_for("the lag's end", lambda: lag(bootstrap, group, TOPICS) == 0, timeout_s=120, pause_s=0.1)
            settle_s = time.monotonic() - settle
            end = [usage(one.pid) for one in processes]
            with path.database() as connection:
                rows = sum(
                    connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # type: ignore[index,arg-type]  # one row, from constants
                    for table in ("rnic_sample", "offload_sample")
                )
        sent = backlog["samples"] + steady["samples"]
        assert rows == sent, f"{rows} rows of {sent} samples"
    report(
        "ingest",
        form=FORM,
        drain_samples_per_s=backlog["samples"] / drain_s,
        drain_rnic_samples_per_s=backlog["rnic_samples"] / drain_s,
        kafka_bytes_per_rnic_sample=size / backlog["rnic_samples"],
        drain_s=drain_s,
        first_commit_s=ready_s,
        steady_samples_per_s=RATE,
        steady_s=STEADY_S,
        lag_messages_at_end=lag_at_end,
        lag_settled_s=settle_s,
        cpu_us_per_sample_draining=sum(one.cpu_s for one in after_backlog) / backlog["samples"] * 1e6,
        cpu_share_steady=sum(after.cpu_s - before.cpu_s for before, after in zip(after_backlog, end, strict=True)) / (STEADY_S + settle_s),
        peak_rss_mb=max(one.peak_rss_mb for one in end),
        produced_samples_per_s=backlog["samples_per_s"],
        rows_stored=rows,
        processes=PROCESSES,
    )


if __name__ == "__main__":
    main()
