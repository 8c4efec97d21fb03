"""RNICs with traffic as the job judges it and `ingest` stores it, without the way through Kafka."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import psycopg
import pytest

from wallwatch.domain.isolation.assignment import Assigned, Book, Condition, Facts, Rule, assigned, slo_of
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.domain.isolation.messages import decode
from wallwatch.jobs import ingest_isolation
from wallwatch_testing.isolation_rollups import roll_up_isolation
from wallwatch_testing.vf_traffic import SharedRnic

PCI = "0000:3b:00.0"
BOOK = Book({"gold": slo_of(50, 2_000, None, 200.0, 0.001)}, (Rule((Condition("namespace", "=", "a"),), "gold"),))
STORM = range(130, 150)
SECONDS = 245


@dataclass
class JudgedRnic:
    """One RNIC whose VF 3, of tenant b, breaks the promises to the others, of tenant a, for 20 seconds."""

    connection: psycopg.Connection[Any]
    host: str
    rnic_id: int = 0
    start: float = 0.0
    messages: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        insert = "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6') RETURNING rnic_id"
        self.rnic_id = (self.connection.execute(insert, [self.host, PCI]).fetchone() or (0,))[0]
        self.start = float((int(time.time()) - SECONDS) // 60 * 60)

    @property
    def since(self) -> datetime:
        return datetime.fromtimestamp(self.start, UTC)

    @property
    def until(self) -> datetime:
        return self.since + timedelta(seconds=SECONDS)

    @property
    def broken_today(self) -> float:
        """Broken seconds since midnight: a test may run just after it."""
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        return float(sum(self.start + second >= midnight for second in STORM))

    def facts(self, vf: int) -> Facts:
        return Facts(self.host, PCI, vf, "r1", "CX-6", f"{'b' if vf == 3 else 'a'}/{self.host}-{vf}")

    def judge(self, book: Book = BOOK, seconds: int = SECONDS) -> None:
        """Let the job's code judge the storm, and ingest's code store what it sends."""

        def of_book(facts: Facts) -> tuple[Assigned | None, str]:
            return assigned(facts, book)

        stream = RnicStream(self.host, PCI, "r1")
        stream.promise(self.facts, of_book, 1)
        for message in SharedRnic(self.host).series(self.start, seconds, lambda second: second in STORM):
            self.messages += stream.step(message["timestamp"] / 1e9, message["fields"])
        latest = datetime.now(UTC) + timedelta(hours=1)
        stored = [ingest_isolation.StoredIsolation(self.rnic_id, decode(orjson.dumps(one), latest)) for one in self.messages]
        with self.connection.transaction():
            ingest_isolation.write(self.connection, stored)
        roll_up_isolation(self.connection, self.since, self.until)


@pytest.fixture
def rnic(backend: Any, host: str) -> Iterator[JudgedRnic]:
    with backend.connect() as connection:
        yield JudgedRnic(connection, host)


@pytest.fixture(scope="module")
def judged(backend: Any) -> Iterator[JudgedRnic]:
    """The storm, once for a module that only reads."""
    with backend.connect() as connection:
        one = JudgedRnic(connection, f"judged-{time.monotonic_ns()}")
        one.judge()
        yield one


Get = Callable[..., Any]


@pytest.fixture(scope="module")
def get(viewer: Any) -> Get:
    """GET as a viewer, who may read everything here."""

    def ask(path: str, **params: Any) -> Any:
        answer = viewer.get(
            f"/api/v1/isolation{path}", params={k: v.isoformat() if isinstance(v, datetime) else v for k, v in params.items()}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask
