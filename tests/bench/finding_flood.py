"""Thousands of findings through Kafka into the backend: the cost of new, repeated and cleared ones."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import psycopg
from tests.bench.processes import usage

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_testing.stack import wait_for
from wallwatch_testing.telemetry_path import TelemetryPath

NEW = 500
_TEXT = "This share of the insertions re-offloads a flow that is live. "


def _evidence(repeat: int) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    base = {"signal": "reoffload_ratio", "label": "Re-offload ratio", "unit": "ratio", "from": now, "to": now, "value": 0.4}
    return {**base, "expected": "< 0.05", "text": _TEXT * repeat}


def _message(row: dict[str, Any], at: datetime, state: str = "active") -> bytes:
    """A message of the size that `classify` sends, about 6 kB."""
    causes = [row["cause"], *(f"C{c}" for c in range(1, 9) if f"C{c}" != row["cause"])]
    ranked = [
        {
            "cause": cause,
            "title": "A cause",
            "prior": 0.1,
            "posterior": 0.9 if place == 0 else 0.01,
            "evidence_for": [_evidence(1)],
            "evidence_against": [_evidence(1)],
            "next_test": "A test that would settle it.",
        }
        for place, cause in enumerate(causes)
    ]
    texts = {
        "rule": f"{row['symptom']}/1",
        "title": "A symptom of an RNIC",
        "summary": f"One sentence about it, as of {at.isoformat()}.",
        "explanation": "Some sentences for a ticket. " * 5,
        "evidence": [_evidence(3)] * 4,
        "hypotheses": ranked if state == "active" else [],
        "remedies": [],
    }
    identity = {name: str(row[name]) for name in ("finding_id", "host", "pci", "rack", "symptom", "severity", "blast_radius")}
    return orjson.dumps({**identity, **texts, "state": state, "started_at": row["started_at"], "at": at})


def _seeded(connection: psycopg.Connection[Any]) -> Iterator[dict[str, Any]]:
    columns = ("finding_id", "host", "pci", "rack", "symptom", "severity", "blast_radius", "cause", "started_at")
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM incident_finding"):
        yield dict(zip(columns, row, strict=True))


def _fresh(at: datetime) -> Iterator[dict[str, Any]]:
    for i in range(NEW):
        names = {"host": f"new{i:05}", "pci": "0000:3b:00.0", "rack": f"new-r{i}", "symptom": f"S{i % 8 + 1}", "cause": f"C{i % 8 + 1}"}
        yield {"finding_id": uuid4(), **names, "severity": "warning", "blast_radius": "rnic", "started_at": at}


def _servers_cpu_s(connection: psycopg.Connection[Any]) -> float:
    """CPU time of PostgreSQL's processes that live now."""
    [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or [0]
    parent = _parent(Path(f"/proc/{pid}"))
    found = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if _parent(process) == parent:
                found += usage(int(process.name)).cpu_s
        except (OSError, IndexError, KeyError):  # it has ended meanwhile
            continue
    return found


def _parent(process: Path) -> int:
    return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])


def flood(path: TelemetryPath, backend_pid: int) -> dict[str, float]:
    """New findings, then every seeded one again, then clearing the new ones; CPU time of each in ms, and findings per second."""
    figures: dict[str, float] = {}
    producer = kafka_clients.producer(KafkaSettings(kafka_bootstrap=path.kafka.address))
    with path.database() as connection:

        def send(name: str, messages: Iterable[bytes], left: str, *values: Any) -> None:
            count = 0
            for message in messages:
                producer.produce("wallwatch.findings", message, key=b"one")
                producer.poll(0)
                count += 1
            producer.flush(60)
            before, database_before, begin = usage(backend_pid).cpu_s, _servers_cpu_s(connection), time.perf_counter()

            def done() -> bool:
                return connection.execute(left, values).fetchone() == (0,)  # type: ignore[arg-type]  # constants of this function

            wait_for(f"findings: {name}", done, timeout_s=900)
            figures[f"finding_{name}_per_s"] = count / (time.perf_counter() - begin)
            figures[f"finding_{name}_backend_cpu_ms"] = (usage(backend_pid).cpu_s - before) / count * 1000
            figures[f"finding_{name}_database_cpu_ms"] = (_servers_cpu_s(connection) - database_before) / count * 1000

        at = datetime.now(UTC)
        fresh, seeded = list(_fresh(at)), list(_seeded(connection))
        not_there = f"SELECT {NEW} - count(*) FROM incident_finding WHERE host LIKE 'new%%'"
        send("new", (_message(row, at) for row in fresh), not_there)
        repeated = at + timedelta(seconds=15)
        not_repeated = "SELECT count(*) FROM incident_finding WHERE host NOT LIKE 'new%%' AND last_at < %s"
        send("repeated", (_message(row, repeated) for row in seeded), not_repeated, repeated)
        not_ended = "SELECT count(*) FROM incident_finding WHERE host LIKE 'new%%' AND cleared_at IS NULL"
        send("ended", (_message(row, repeated, "cleared") for row in fresh), not_ended)
    return figures
