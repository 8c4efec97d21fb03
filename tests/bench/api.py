"""The API beside a live fleet of 1,000 RNICs: 50 clients that ask without a pause, then 500 event streams and some that never read.

PostgreSQL, Kafka, the fleet's load, `ingest` and the backend share one core, the clients have the other: `client_cpu_share` says how
much of it they used, and near 1 the figures would be the clients' own. The reference is `/-/healthy`,
asked the same way in the same run: what a request costs that does nothing. WALLWATCH_BENCH_API_S is the length of each part (60).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
import psycopg
from tests.bench.api_token import token
from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import kafka, ports, postgres
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, running

SECONDS = float(os.environ.get("WALLWATCH_BENCH_API_S", "60"))
IDLE_S = min(SECONDS, 10)
"""How long the backend is watched while nobody asks: the live fleet alone costs it something."""
RNICS = 1_000
CLIENTS = 50
PAUSE_S = 1.0
"""Of clients that do pause, as pages do: also measured, beside those that never do."""
STREAMS, SLOW = 480, 20
WALLWATCH = str(Path(sys.executable).with_name("wallwatch"))
PATHS = ["/api/v1/fleet", "/api/v1/incidents", "/api/v1/incidents/counts"]
SERVER_CORE, CLIENT_CORE = 0, 1


@contextmanager
def process(name: str, command: list[str], folder: Path, is_ready: Any) -> Iterator[int]:
    """A process on the server's core for the length of the block."""
    with running(name, die_with_parent(command, SIGTERM), folder / f"{name}.log", is_ready, SIGTERM) as started:
        yield started.pid


def clients(url: str, token: str, **plan: Any) -> dict[str, Any]:
    """What clients on their own core saw."""
    command = ["taskset", "-c", str(CLIENT_CORE), sys.executable, "-m", "tests.bench.api_client", url, token, json.dumps(plan)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Measured:
    """What clients saw, and what it cost the backend, less what the live fleet alone costs it."""

    saw: dict[str, Any]
    cpu_s: float
    took_s: float
    idle_share: float = 0

    @property
    def requests(self) -> int:
        return sum(one["count"] for one in self.saw["paths"].values())

    @property
    def cpu_ms_per_request(self) -> float:
        return 1e3 * (self.cpu_s - self.idle_share * self.took_s) / self.requests


def measured(pid: int, ask: Callable[[], dict[str, Any]], idle_share: float = 0) -> Measured:
    """Ask, and measure the backend meanwhile."""
    before, began = usage(pid).cpu_s, time.monotonic()
    saw = ask()
    return Measured(saw, usage(pid).cpu_s - before, time.monotonic() - began, idle_share)


def nothing() -> dict[str, Any]:
    """Nobody asks."""
    time.sleep(IDLE_S)
    return {"paths": {}}


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/-/ready", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def known_rnics(database_url: str) -> int:
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        row = connection.execute("SELECT count(*) FROM rnic_state").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def live_fleet(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Address of the backend, a token, and the backend's process id."""
    [port] = ports.free_ports(1)
    url = f"http://127.0.0.1:{port}"
    with postgres.start(folder / "postgres") as database_url, kafka.start(folder / "kafka") as bootstrap:
        settings = {
            "WALLWATCH_DATABASE_URL": database_url,
            "WALLWATCH_KAFKA_BOOTSTRAP": bootstrap,
            "WALLWATCH_SECRETS_DIR": f"{folder}/secrets",
            "WALLWATCH_STATE_DIR": f"{folder}/state",
            "WALLWATCH_LOG_LEVEL": "WARNING",
        }
        environment = os.environ | settings
        subprocess.run([WALLWATCH, "db", "upgrade"], env=environment, check=True, capture_output=True)
        create_topics(KafkaSettings(kafka_bootstrap=bootstrap))
        secret = token(environment)
        env = ["env", *[f"{name}={value}" for name, value in settings.items()]]
        backend = [*env, sys.executable, "-m", "wallwatch_backend.cli.serve", "--port", str(port)]
        load = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--rnics", str(RNICS), "--interval", "10s"]
        with (
            process("ingest", [*env, WALLWATCH, "job", "ingest"], folder, lambda: True),
            process("load", load, folder, lambda: known_rnics(database_url) >= RNICS),
            process("backend", backend, folder, lambda: answers(url)) as pid,
        ):
            yield url, secret, pid


def main() -> None:
    """Measure and report."""
    os.sched_setaffinity(0, {SERVER_CORE})  # everything that is started below shares the core
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name, live_fleet(Path(name)) as (url, token, pid):
        asking = {"what": "requests", "clients": CLIENTS}
        clients(url, token, **asking, seconds=5, paths=PATHS)
        idle = measured(pid, nothing)
        share = idle.cpu_s / idle.took_s
        least = measured(pid, lambda: clients(url, token, **asking, seconds=min(SECONDS, 15), paths=["/-/healthy"]), share)
        asked = measured(pid, lambda: clients(url, token, **asking, seconds=SECONDS, paths=PATHS), share)
        paced = clients(url, token, **asking, seconds=min(SECONDS, 20), paths=PATHS, pause_s=PAUSE_S)
        after = usage(pid)
        fast = clients(url, token, what="streams", clients=STREAMS, slow=0, seconds=SECONDS)
        streams = clients(url, token, what="streams", clients=STREAMS, slow=SLOW, seconds=SECONDS)
        at_end = usage(pid)
    reference, seen = least.saw["paths"]["/-/healthy"], asked.saw["paths"]
    report(
        "api",
        clients=CLIENTS,
        rnics=RNICS,
        requests=asked.requests,
        requests_per_s=asked.requests / asked.took_s,
        errors=asked.saw["errors"],
        **{f"{path.rsplit('/', 1)[-1]}_{figure}": seen[path][figure] for path in PATHS for figure in ("p50_s", "p95_s", "max_s")},
        reference_p50_s=reference["p50_s"],
        reference_p95_s=reference["p95_s"],
        reference_per_s=least.requests / least.took_s,
        fleet_to_reference=seen[PATHS[0]]["p50_s"] / reference["p50_s"],
        fleet_p95_to_reference=seen[PATHS[0]]["p95_s"] / reference["p95_s"],
        client_cpu_share=asked.saw["client_cpu_share"],
        reference_client_cpu_share=least.saw["client_cpu_share"],
        **{f"paced_{path.rsplit('/', 1)[-1]}_p95_s": paced["paths"][path]["p95_s"] for path in PATHS},
        paced_errors=paced["errors"],
        cpu_ms_per_request=asked.cpu_ms_per_request,
        reference_cpu_ms_per_request=least.cpu_ms_per_request,
        cpu_to_reference=asked.cpu_ms_per_request / least.cpu_ms_per_request,
        backend_cpu_share=asked.cpu_s / asked.took_s,
        backend_cpu_share_idle=share,
        backend_rss_mb=after.rss_mb,
        streams=streams["opened"],
        streams_slow=SLOW,
        streams_refused=streams["refused"],
        streams_ended_early=streams["ended_early"],
        streams_resyncs=streams["resyncs"],
        stream_events_min=streams["events_min"],
        stream_events_max=streams["events_max"],
        stream_spread_s_p95=streams["spread_s_p95"],
        stream_spread_s_p95_without_slow=fast["spread_s_p95"],
        fleet_p95_s_beside_streams=streams["paths"][PATHS[0]]["p95_s"],
        backend_rss_mb_after_streams=at_end.rss_mb,
    )


if __name__ == "__main__":
    main()
