"""Messages per second that `ingest` moves from Kafka into TimescaleDB, and whether it keeps up with a fleet.

First a backlog is drained (the highest rate), then messages are sent at a steady rate for a while, and the lag at the end is read.
WALLWATCH_BENCH_MESSAGES is the backlog (600,000), WALLWATCH_BENCH_RATE the steady rate in messages per second (20,000: with two messages
per RNIC, the paper's 40,000 RNICs at 4 s), WALLWATCH_BENCH_STEADY_S its length, WALLWATCH_BENCH_PROCESSES the number of `ingest`
processes that share the partitions (1).
"""

import json
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

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
RNICS = 40_000
TOPICS = ("wallwatch.rnic", "wallwatch.rnic_offload")


def send(bootstrap: str, count: int, rate: float) -> float:
    """Let fleetsim write `count` messages of these topics; returns the messages per second, without the time to record its tapes."""
    return send_topics(bootstrap, count, rate, TOPICS)


def send_topics(bootstrap: str, count: int, rate: float, topics: tuple[str, ...], rnics: int = RNICS) -> float:
    """The same for given topics, and for fleets of other sizes."""
    command = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--rnics", str(rnics), "--rate", str(rate), "--count", str(count)]
    command += ["--measurements", ",".join(topic.removeprefix("wallwatch.") for topic in topics)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["messages_per_s"])


def main() -> None:
    """Measure and report."""
    group = Settings().ingest_group
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, telemetry_path.start(Path(folder), partitions=12) as path:
        bootstrap = path.kafka.address
        produced_per_s = send(bootstrap, BACKLOG, -1)
        begin = time.monotonic()
        with ExitStack() as jobs:
            processes = [jobs.enter_context(path.job("ingest")) for _ in range(PROCESSES)]
            wait_for("the first commit", lambda: lag(bootstrap, group, TOPICS) < BACKLOG, timeout_s=60, pause_s=0.1)
            ready_s = time.monotonic() - begin
            wait_for("the backlog's end", lambda: lag(bootstrap, group, TOPICS) == 0, timeout_s=300, pause_s=0.2)
            drain_s = time.monotonic() - begin
            after_backlog = [usage(one.pid) for one in processes]
            send(bootstrap, int(RATE * STEADY_S), RATE)
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
        assert rows == BACKLOG + int(RATE * STEADY_S), f"{rows} rows of {BACKLOG + int(RATE * STEADY_S)} messages"
    report(
        "ingest",
        drain_messages_per_s=BACKLOG / drain_s,
        drain_rnic_samples_per_s=BACKLOG / drain_s / len(TOPICS),
        drain_s=drain_s,
        first_commit_s=ready_s,
        steady_messages_per_s=RATE,
        steady_s=STEADY_S,
        lag_messages_at_end=lag_at_end,
        lag_settled_s=settle_s,
        cpu_us_per_message_draining=sum(one.cpu_s for one in after_backlog) / BACKLOG * 1e6,
        cpu_share_steady=sum(after.cpu_s - before.cpu_s for before, after in zip(after_backlog, end, strict=True)) / (STEADY_S + settle_s),
        peak_rss_mb=max(one.peak_rss_mb for one in end),
        produced_messages_per_s=produced_per_s,
        rows_stored=rows,
        processes=PROCESSES,
    )


if __name__ == "__main__":
    main()
