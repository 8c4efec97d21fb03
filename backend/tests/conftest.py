"""A real backend for each test module: a database of its own with the real migrations, a real uvicorn server on a free port.

The backend's modules and other large ones are imported by the fixtures: every run of a single pure test loads this file.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import NAMESPACE_URL, uuid4, uuid5

import pytest

if TYPE_CHECKING:
    import httpx
    import psycopg
    import uvicorn
    from confluent_kafka import Producer

    from wallwatch_backend.kit.database import Database
    from wallwatch_backend.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery staple"


@cache
def password_hash() -> str:
    """Hashed once per run: a hash is slow on purpose."""
    from wallwatch_backend.accounts.users.passwords import hash_now

    return hash_now(PASSWORD)


@dataclass(frozen=True)
class Backend:
    """A running backend and the ways in; `database_url` is a superuser's, so that tests can prepare and see everything."""

    url: str
    database_url: str
    settings: Settings
    password: str = PASSWORD

    @property
    def dsn(self) -> str:
        return self.database_url.replace("+psycopg", "")

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        import psycopg

        return psycopg.connect(self.dsn, autocommit=True)

    def clear(self, *tables: str) -> None:
        """Delete every row, those of commands first: that is the order in which the background work locks, which goes on meanwhile."""
        from psycopg import sql

        with self.connect() as connection:
            for table in ("remedy_command", *tables):
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))

    def client(self, **options: Any) -> httpx.Client:
        import httpx

        # Plain HTTP: to load the system's authorities for each client would take longer than most requests.
        return httpx.Client(**{"base_url": self.url, "timeout": 60, "verify": False, **options})

    def signed_in(self, role: str) -> httpx.Client:
        """A browser's client: session cookie and CSRF header."""
        client = self.client()
        answer = client.post("/api/v1/session", json={"username": role, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        return client


async def add_accounts(database_url: str) -> None:
    """One account of each role, named after it."""
    from wallwatch_backend.accounts.users import service as users
    from wallwatch_backend.kit.access import Role
    from wallwatch_backend.kit.database import Database
    from wallwatch_backend.settings import Settings

    database = Database(Settings(database_url=database_url))
    async with database.write() as session:
        for role in Role:
            await users.add_user(session, "test", str(role), password_hash(), role)
    await database.dispose()


def serve(settings: Settings, port: int) -> tuple[uvicorn.Server, threading.Thread]:
    """Run the server in a thread until `server.should_exit` is set."""
    import uvicorn

    from wallwatch_backend.app import create_app
    from wallwatch_backend.kit.serving.server import configuration

    app = create_app(settings)
    server = uvicorn.Server(configuration(app, settings, host="127.0.0.1", port=port, log_config=None, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server did not start in 120 s"
        time.sleep(0.05)
    return server, thread


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    """Settings that a module wants different; override the fixture there."""
    return {}


T = TypeVar("T")


def _once_started(ask: Callable[[], T]) -> T:
    """Ask a broker that may have just started: it loads its groups and takes over its partitions first, and says so."""
    from confluent_kafka import KafkaError, KafkaException

    still_starting = {KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.NOT_LEADER_FOR_PARTITION}
    deadline = time.monotonic() + 60
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in still_starting or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="module")
def new_kafka_group(kafka_bootstrap: str) -> str:
    """A consumer group that has read everything so far: all modules share the broker, and one's findings are no matter of the next."""
    from confluent_kafka import TopicPartition

    from wallwatch import kafka_clients
    from wallwatch.kafka_settings import KafkaSettings

    group = f"test-{time.monotonic_ns()}"
    consumer = kafka_clients.consumer(KafkaSettings(kafka_bootstrap=kafka_bootstrap), {"group.id": group, "enable.auto.commit": False})
    with closing(consumer):
        partitions = consumer.list_topics("wallwatch.findings", timeout=60).topics["wallwatch.findings"].partitions
        for partition in partitions:
            place = TopicPartition("wallwatch.findings", partition)
            _, place.offset = _once_started(partial(consumer.get_watermark_offsets, place, timeout=60))
            _once_started(partial(consumer.commit, offsets=[place], asynchronous=False))
    return group


@pytest.fixture(scope="module")
def backend(
    migrated_url: str,
    backend_url: str,
    kafka_bootstrap: str,
    new_kafka_group: str,
    tmp_path_factory: pytest.TempPathFactory,
    backend_settings: dict[str, object],
) -> Iterator[Backend]:
    from wallwatch_backend.settings import Settings
    from wallwatch_local.ports import free_ports

    asyncio.run(add_accounts(backend_url))
    settings = Settings(
        **{
            "database_url": backend_url,  # the least rights that it needs in production, too
            "kafka_bootstrap": kafka_bootstrap,
            "kafka_group": new_kafka_group,
            "secrets_dir": tmp_path_factory.mktemp("secrets") / "s",
            "captures_dir": tmp_path_factory.mktemp("captures"),
            "log_level": "WARNING",
            **backend_settings,
        }
    )
    port = free_ports(1)[0]
    server, thread = serve(settings, port)
    try:
        yield Backend(f"http://127.0.0.1:{port}", migrated_url, settings)
    finally:
        server.should_exit = True
        thread.join(90)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="module")
def replica(backend: Backend) -> Iterator[Callable[..., str]]:
    """A function that starts another server on the same database, with some settings changed, and returns its address."""
    from wallwatch_local.ports import free_ports

    running = []

    def start(**changed: Any) -> str:
        port = free_ports(1)[0]
        running.append(serve(backend.settings.model_copy(update={"background": False, **changed}), port))
        return f"http://127.0.0.1:{port}"

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(90)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="module")
def anonymous(backend: Backend) -> Iterator[httpx.Client]:
    with backend.client() as client:
        yield client


@pytest.fixture(scope="module")
def viewer(backend: Backend) -> Iterator[httpx.Client]:
    with closing(backend.signed_in("viewer")) as client:
        yield client


@pytest.fixture(scope="module")
def operator(backend: Backend) -> Iterator[httpx.Client]:
    with closing(backend.signed_in("operator")) as client:
        yield client


@pytest.fixture(scope="module")
def admin(backend: Backend) -> Iterator[httpx.Client]:
    with closing(backend.signed_in("admin")) as client:
        yield client


@pytest.fixture
async def database(backend: Backend) -> AsyncIterator[Database]:
    from wallwatch_backend.kit.database import Database

    database = Database(backend.settings)
    yield database
    await database.dispose()


Eventually = Callable[..., Any]


@pytest.fixture(scope="session")
def eventually() -> Eventually:
    """A function that returns the first truthy result of `check()`, and fails when none comes in time."""

    def wait(check: Callable[[], Any], timeout_s: float = 90, every_s: float = 0.1) -> Any:
        deadline = time.monotonic() + timeout_s
        while True:
            result = check()
            if result:
                return result
            assert time.monotonic() < deadline, f"not true within {timeout_s} s; last: {result!r}"
            time.sleep(every_s)

    return wait


@dataclass
class FindingSource:
    """Writes messages of `wallwatch.findings` as `classify` does."""

    producer: Producer
    host: str = "host01"
    pci: str = "0000:3b:00.0"

    def send(self, value: bytes | dict[str, Any], key: str | None = None) -> None:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.producer.produce("wallwatch.findings", value=raw, key=key or self.host)
        assert self.producer.flush(90) == 0

    def finding(self, symptom: str = "S1", *, started: datetime, after_s: float = 0, state: str = "active", **more: Any) -> dict[str, Any]:
        host, pci = more.pop("host", self.host), more.pop("pci", self.pci)
        evidence = {
            "signal": "reoffload_ratio",
            "label": "Re-offload ratio",
            "unit": "ratio",
            "from": started.isoformat(),
            "to": (started + timedelta(seconds=after_s)).isoformat(),
            "value": 0.4,
            "expected": "< 0.05",
            "text": "40% of insertions re-offload a live flow.",
        }
        hypothesis = {"cause": "C5", "title": "Stale counters", "prior": 0.153, "posterior": 0.7, "next_test": "Raise max-idle."}
        return {
            "finding_id": str(uuid5(NAMESPACE_URL, f"{host}|{pci}|{symptom}|{started.isoformat()}")),
            "host": host,
            "pci": pci,
            "rack": f"rack-of-{host}",  # hosts of one rack with the same symptom and cause would be one incident
            "symptom": symptom,
            "state": state,
            "started_at": started.isoformat(),
            "at": (started + timedelta(seconds=after_s)).isoformat(),
            "severity": "warning",
            "blast_radius": "flows",
            "rule": f"{symptom}/1",
            "title": "Repetitive flow re-offloading",
            "summary": "Live flows leave the RNIC and come back.",
            "evidence": [evidence],
            "hypotheses": [{**hypothesis, "evidence_for": [evidence], "evidence_against": []}],
            "remedies": [{"action": "tune-revalidator", "params": {"max_idle_ms": 60000}, "why": "Counters lag."}],
            **more,
        }


@pytest.fixture(scope="session")
def findings(kafka_bootstrap: str) -> FindingSource:
    from wallwatch import kafka_clients
    from wallwatch.kafka_settings import KafkaSettings

    return FindingSource(kafka_clients.producer(KafkaSettings(kafka_bootstrap=kafka_bootstrap)))


@pytest.fixture(scope="module")
def apply_findings(backend: Backend) -> Callable[..., None]:
    """A function that applies messages to the backend's database at once, without the way through Kafka."""
    from wallwatch_backend.incidents.findings.message_batch import apply_all
    from wallwatch_backend.incidents.findings.outcomes import Applied
    from wallwatch_backend.incidents.findings.schemas import Finding
    from wallwatch_backend.kit.database import Database

    async def work(messages: tuple[dict[str, Any], ...]) -> None:
        database = Database(backend.settings)
        outcomes = await apply_all(
            database, [Finding.model_validate(message) for message in messages], timedelta(seconds=backend.settings.reopen_within_s)
        )
        assert all(isinstance(outcome, Applied) for outcome in outcomes), outcomes
        await database.dispose()

    def apply_now(*messages: dict[str, Any]) -> None:
        asyncio.run(work(messages))

    return apply_now


@pytest.fixture(scope="session")
def read_dead_letters(kafka_bootstrap: str) -> Callable[[], list[dict[str, Any]]]:
    """A function that returns every dead letter so far."""
    from confluent_kafka import TopicPartition

    from wallwatch import kafka_clients
    from wallwatch.kafka_settings import KafkaSettings

    def read() -> list[dict[str, Any]]:
        consumer = kafka_clients.consumer(
            KafkaSettings(kafka_bootstrap=kafka_bootstrap), {"group.id": "unused", "enable.auto.commit": False}
        )
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition("wallwatch.dead_letter", 0), timeout=60)
            consumer.assign([TopicPartition("wallwatch.dead_letter", 0, 0)])
            found: list[dict[str, Any]] = []
            while len(found) < end:
                found += [json.loads(message.value()) for message in consumer.consume(end, 1.0)]
            return found
        finally:
            consumer.close()

    return read


@pytest.fixture(scope="session")
def fake_agents() -> type[Any]:
    """The class FakeAgent; loaded by path because test folders are no packages."""
    spec = importlib.util.spec_from_file_location("wallwatch_fake_agent", Path(__file__).with_name("fake_agent.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: type[Any] = module.FakeAgent
    return found


@pytest.fixture
def host() -> str:
    """A host that no other test has."""
    return f"host-{uuid4().hex[:8]}"


@pytest.fixture
def agent(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str) -> Iterator[Any]:
    """The host's agent, enrolled and connected; it carries out every command."""
    with fake_agents.enrol(admin, anonymous, host) as agent:
        yield agent
