"""The whole system on one machine: Kafka, PostgreSQL, all jobs, the backend, a browser with the page Fleet, and the load of a fleet.

For fleets of growing size (WALLWATCH_BENCH_FLEET_RNICS, "1000,4000,16000,40000") that send everything a collector sends at an interval of
WALLWATCH_BENCH_FLEET_INTERVAL_S (10): cores, memory, bytes into Kafka and on disk, how far `ingest` and `classify` are behind, and how old
each sample is when a client of the event stream has it (`fresh`: the way from the host's clock through Kafka, `ingest`, PostgreSQL and the
backend). WALLWATCH_BENCH_FLEET_S is the length of each measurement (60; for a claim that a fleet holds, 600). The load generator and the
browser are on the same cores, and are named on their own.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM
from subprocess import PIPE
from typing import Any

import httpx
from tests.bench.fleet_paint import serving
from tests.bench.process_tree import Share, by_role
from tests.bench.report import percentile, report

from wallwatch.settings import Settings
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import telemetry_path
from wallwatch_testing.kafka_lag import committed, ends
from wallwatch_testing.stack import wait_for
from wallwatch_testing.telemetry_path import TelemetryPath

SIZES = [int(text) for text in os.environ.get("WALLWATCH_BENCH_FLEET_RNICS", "1000,4000,16000,40000").split(",")]
INTERVAL_S = float(os.environ.get("WALLWATCH_BENCH_FLEET_INTERVAL_S", "10"))
SECONDS = float(os.environ.get("WALLWATCH_BENCH_FLEET_S", "60"))
SETTLE_S = 20.0
JOBS = ("ingest", "classify", "isolation", "validate", "forecast")
READ = {
    "ingest": (
        "wallwatch.blocks",
        "wallwatch.rnic",
        "wallwatch.rnic_offload",
        "wallwatch.rnic_mask",
        "wallwatch.rnic_vf",
        "wallwatch.ovs_datapath",
        "wallwatch.event",
    ),
    "classify": ("wallwatch.blocks", "wallwatch.rnic", "wallwatch.rnic_offload", "wallwatch.ovs_datapath", "wallwatch.event"),
}
SCRIPT = Path(__file__).with_name("fleet_open.mjs")


def role(command: str) -> str | None:
    """Which part of the system a process is."""
    for job in JOBS:
        if f"wallwatch job {job}" in command:
            return job
    names = {"postgres": "postgresql", "kafka.Kafka": "kafka", "cli.serve": "backend", "fleetsim": "load", "fleet_open.mjs": "browser"}
    return next((name for part, name in names.items() if part in command), None)


@dataclass
class Stream:
    """What a client of the event stream received: how old each sample was by then, in seconds."""

    url: str
    cookie: str
    ages_s: list[float] = field(default_factory=list)
    resyncs: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        """Read until stopped."""
        with (
            httpx.Client(base_url=self.url, cookies={"wallwatch_session": self.cookie}, timeout=60) as client,
            client.stream("GET", "/api/v1/stream") as answer,
        ):
            kind = ""
            for line in answer.iter_lines():
                if self.stopped.is_set():
                    return
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                    self.resyncs += kind == "resync"
                elif kind == "rnic_state" and line.startswith("data: "):
                    now_ms = time.time() * 1000
                    self.ages_s += [(now_ms - at) / 1000 for at in json.loads(line.removeprefix("data: "))["seen_at_ms"] if at]


@contextmanager
def following(asked: dict[str, str]) -> Iterator[Stream]:
    """A client of the event stream in a thread."""
    stream = Stream(asked["BASE_URL"], asked["COOKIE"])
    thread = threading.Thread(target=stream.follow, daemon=True)
    thread.start()
    try:
        yield stream
    finally:
        stream.stopped.set()
        thread.join(30)


@contextmanager
def system(path: TelemetryPath, folder: Path) -> Iterator[dict[str, str]]:
    """All jobs and the backend; yields what a browser script needs to open its pages."""
    with ExitStack() as started:
        for job in JOBS:
            started.enter_context(path.job(job, WALLWATCH_LOG_LEVEL="WARNING"))
        yield started.enter_context(serving(path, folder))


@contextmanager
def load(path: TelemetryPath, folder: Path, rnics: int) -> Iterator[None]:
    """The messages of a fleet of so many RNICs."""
    command = [str(binary("fleetsim")), "load", "--kafka", path.kafka.address, "--rnics", str(rnics), "--interval", f"{INTERVAL_S}s"]
    with running("load", die_with_parent(command, SIGTERM), folder / "load.log", lambda: True, SIGTERM):
        yield


@contextmanager
def page(asked: dict[str, str], rnics: int) -> Iterator[None]:
    """Chromium with the page Fleet open and painted."""
    environment = {**asked, "RNICS": str(rnics)}
    with subprocess.Popen(["node", str(SCRIPT)], env=environment, stdin=PIPE, stdout=PIPE, text=True) as shown:
        assert shown.stdout is not None
        assert shown.stdin is not None
        assert shown.stdout.readline() == "open\n", "the page Fleet was not painted"
        yield
        shown.stdin.close()


def behind(path: TelemetryPath) -> dict[str, tuple[int, int]]:
    """Messages sent so far, and those of them that are not committed, by job."""
    settings = Settings()
    groups = {"ingest": settings.ingest_group, "classify": settings.classify_group}
    found = {}
    for job, group in groups.items():
        done = committed(path.kafka.address, group, READ[job])
        last = ends(path.kafka.address, READ[job])
        found[job] = (sum(last.values()), sum(last.values()) - sum(done.values()))
    return found


def bytes_of(folder: Path, name: str) -> int:
    """Bytes of files below a folder whose path has this name in it."""
    total = 0
    for place, _, files in os.walk(folder):
        if name in place:
            for file in files:
                try:
                    total += (Path(place) / file).stat().st_blocks * 512
                except OSError:
                    continue
    return total


def rnics_of(path: TelemetryPath) -> int:
    with path.database() as connection:
        row = connection.execute("SELECT count(*) FROM rnic_state WHERE seen_at > now() - interval '1 minute'").fetchone()
    return int(row[0]) if row else 0


def measure(path: TelemetryPath, folder: Path, asked: dict[str, str], rnics: int) -> dict[str, Any]:
    """Let a fleet of this size run, and say what it costs."""
    with ExitStack() as things:
        things.enter_context(load(path, folder, rnics))
        wait_for(f"{rnics} RNICs", lambda: rnics_of(path) >= rnics, timeout_s=180, pause_s=1)
        things.enter_context(page(asked, rnics))
        time.sleep(SETTLE_S)
        stream = things.enter_context(following(asked))
        before, sent, kafka = by_role(role), behind(path), bytes_of(folder / "kafka", "wallwatch.")
        disk, began = bytes_of(folder / "postgres", "base"), time.monotonic()
        time.sleep(SECONDS)
        took = time.monotonic() - began
        after, sent_after = by_role(role), behind(path)
        kafka_after, disk_after = bytes_of(folder / "kafka", "wallwatch."), bytes_of(folder / "postgres", "base")
    cores = {name: (share.cpu_s - before.get(name, Share()).cpu_s) / took for name, share in sorted(after.items())}
    figures: dict[str, Any] = {"rnics": rnics, "interval_s": INTERVAL_S, "seconds": took}
    for job, (messages, lag) in sent_after.items():
        rate = (messages - sent[job][0]) / took
        figures |= {f"{job}_messages_per_s": rate, f"{job}_behind_s": lag / rate, f"{job}_behind_s_at_start": sent[job][1] / rate}
    figures |= {f"cores_{name}": value for name, value in cores.items()}
    product = sum(value for name, value in cores.items() if name not in ("load", "browser", "others"))
    return figures | {
        "cores_product": product,
        "cores_product_per_1000_rnics": product / rnics * 1000,
        **{f"rss_mb_{name}": share.rss_mb for name, share in sorted(after.items())},
        "kafka_bytes_per_rnic_sample": (kafka_after - kafka) / (took / INTERVAL_S * rnics),
        "postgresql_bytes_per_rnic_sample": (disk_after - disk) / (took / INTERVAL_S * rnics),
        "fresh_s_p50": percentile(stream.ages_s, 0.5),
        "fresh_s_p95": percentile(stream.ages_s, 0.95),
        "fresh_s_max": max(stream.ages_s),
        "stream_rows": len(stream.ages_s),
        "stream_resyncs": stream.resyncs,
    }


def main() -> None:
    """Measure and report each size."""
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name, telemetry_path.start(Path(name), partitions=12) as path:
        folder = Path(name)
        with system(path, folder) as asked:
            for rnics in SIZES:
                report("fleet", **measure(path, folder, asked, rnics))


if __name__ == "__main__":
    main()
