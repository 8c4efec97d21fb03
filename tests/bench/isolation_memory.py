"""Memory of the job `isolation`: what it keeps of each RNIC with eight VFs, and what reading the events of pods takes.

The first part is the job without Kafka and without a database, one process for each size, so that none inherits another's memory: bytes per
RNIC after WALLWATCH_BENCH_TURNS samples (12), and by how much memory grew in the second half of them. The second part reads events from a
real PostgreSQL as the job does: WALLWATCH_BENCH_EVENTS (480,000) of the last ten minutes and as many of the day before, which is what
20,000 RNICs of `fleetsim load` send. WALLWATCH_BENCH_RNICS is the list of sizes (5000,20000,40000).
"""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import orjson
import psycopg
from tests.bench.isolation_store import migrate
from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.jobs import compiled_stage
from wallwatch_local import postgres

SIZES = [int(text) for text in os.environ.get("WALLWATCH_BENCH_RNICS", "5000,20000,40000").split(",")]
TURNS = int(os.environ.get("WALLWATCH_BENCH_TURNS", "12"))
EVENTS = int(os.environ.get("WALLWATCH_BENCH_EVENTS", "480000"))
HOSTS, PORTS, VFS = 4_000, 5, 3
EVERY_S, START_S, SOURCES = 10.0, 1_790_000_040.0, 40
PCI = "0000:3b:00.0"

_FILL = """
INSERT INTO event (time, host_id, pci, kind, other)
SELECT now() - %(since)s::interval + n * %(span)s::interval / %(count)s, host_id, '0000:' || port || '0:00.0', kind,
  jsonb_build_object('address', '172.16.0.1/12', 'container', md5((n / 2)::text), 'detail', 'ADD of ' || md5((n / 2)::text) || ': ok.',
    'device', '0000:' || port || '0:00.' || vf, 'interface', 'eth0', 'result', 'ok', 'vxlan_network', 100, 'pod', 'team-a/web-' || n / 2)
FROM (
  SELECT n, 1 + n / 2 * 7919 %% %(hosts)s AS host_id, 1 + n / 6 %% 5 AS port, 2 + n / 2 %% 3 AS vf,
    CASE n %% 2 WHEN 0 THEN 'cni_add' ELSE 'cni_del' END AS kind
  FROM generate_series(0, %(count)s - 1) AS n
) AS pods
"""


def of_rnics(rnics: int) -> None:
    """One size, in this process."""
    compiled = compiled_stage.use()
    from wallwatch.domain.isolation.assignment import Book, Condition, Facts, Rule, assigned, slo_of
    from wallwatch.domain.isolation.live import RnicStream
    from wallwatch.domain.telemetry.decode import decode
    from wallwatch.domain.telemetry.registry import measurements
    from wallwatch.jobs.isolation_findings import IsolationFindings
    from wallwatch_testing.vf_traffic import SharedRnic

    book = Book({"gold": slo_of(50, 5_000, None, 200.0, 0.001)}, (Rule((Condition("namespace", "=~", "team-.*"),), "gold"),))
    findings, measurement = IsolationFindings(), measurements()["vf_traffic"]
    streams: dict[bytes, RnicStream] = {}
    # A few models of an RNIC say what the whole fleet sends: forty thousand would be in the figure.
    fleet = [SharedRnic(f"source{number:04d}", seed=number) for number in range(SOURCES)]
    gc.disable()
    before_mb = usage(os.getpid()).rss_mb
    after_mb: list[float] = []
    for turn in range(TURNS):
        values = [orjson.dumps(rnic.step(START_S + turn * EVERY_S, EVERY_S)) for rnic in fleet]
        for number in range(rnics):
            host = b"host%06d" % number
            value = values[number % SOURCES].replace(b"source%04d" % (number % SOURCES), host)
            tags, at_ns, fields = decode(value, measurement, 1 << 62)
            stream = streams.get(host)
            if stream is None:
                stream = streams[host] = RnicStream(tags["host"], tags["pci"], tags["rack"])
                stream.promise(
                    lambda vf, host=tags["host"]: Facts(host, PCI, vf, "r1", "CX-6", f"team-a/pod-{host}-{vf}"),
                    lambda facts: assigned(facts, book),
                    1,
                )
            stream.step(at_ns / 1e9, fields)
            if (verdict := stream.take_verdict()) is not None:
                findings.take(stream, verdict, "")
        after_mb.append(usage(os.getpid()).rss_mb)
    report(
        "isolation_memory",
        rnics=rnics,
        compiled=compiled,
        mb_before=before_mb,
        mb=after_mb[-1],
        kb_per_rnic=(after_mb[-1] - before_mb) * 1e3 / rnics,
        mb_grown_in_the_second_half=after_mb[-1] - after_mb[TURNS // 2 - 1],
        samples_of_each=TURNS,
    )


def of_events(url: str) -> None:
    """Read the events again and again, as the job does in the hours after its start."""
    from wallwatch.store.vf_holders import HolderWatcher

    migrate(url)
    libpq = url.replace("+psycopg", "")
    with psycopg.connect(libpq, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO host (host_id, host) OVERRIDING SYSTEM VALUE SELECT n, 'host' || n FROM generate_series(1, %s) AS n", [HOSTS]
        )
        connection.execute(
            "INSERT INTO rnic (host, pci, rack, model) "
            "SELECT host, '0000:' || port || '0:00.0', 'r1', 'CX-6' FROM host, generate_series(1, %s) AS port",
            [PORTS],
        )
        connection.execute(
            "INSERT INTO vf_sample (time, rnic_id, vf, vf_pci) "
            "SELECT now(), rnic_id, vf, left(pci, 11) || vf FROM rnic, generate_series(2, %s) AS vf",
            [VFS + 1],
        )
        for since, span in (("10 minutes", "590 seconds"), ("20 hours", "19 hours")):
            connection.execute(_FILL, {"since": since, "span": span, "count": EVENTS, "hosts": HOSTS})
        connection.execute("ANALYZE")
    watcher = HolderWatcher(libpq, threading.Event())
    watcher.refresh()
    first = usage(os.getpid())
    figures: dict[str, float] = {}
    for reading, what in ((1, "ten_minutes"), (0, "day")):
        before = time.process_time()
        for _ in range(2):
            watcher._due_s[reading] = 0.0
            watcher.refresh()
        figures[f"cpu_s_{what}"] = (time.process_time() - before) / 2
        figures[f"peak_mb_{what}"] = usage(os.getpid()).peak_rss_mb
    report("isolation_events", events_of_ten_minutes=EVENTS, events_of_a_day=2 * EVENTS, mb_after_the_first_reading=first.rss_mb, **figures)


def main() -> None:
    """Measure and report; with an argument, one size in this process."""
    if len(sys.argv) == 2 and sys.argv[1].isdigit():
        of_rnics(int(sys.argv[1]))
        return
    for rnics in SIZES:
        subprocess.run([sys.executable, "-m", "tests.bench.isolation_memory", str(rnics)], check=True)
    with tempfile.TemporaryDirectory() as folder, postgres.start(Path(folder) / "data", durable=False) as url:
        of_events(url)


if __name__ == "__main__":
    main()
