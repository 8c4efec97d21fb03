"""A migrated database, Kafka, and a running ingest."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import psycopg
import pytest
from alembic.config import Config

from wallwatch import kafka_clients
from wallwatch.jobs.ingest import Ingest
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.settings import Settings
from wallwatch_testing.kafka_lag import begin_at_ends

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def alembic_config(postgres_url: str) -> Config:
    """For Alembic's commands on the module's own database, which is empty at first."""
    made = Config(str(REPOSITORY / "alembic.ini"))
    made.set_main_option("script_location", str(REPOSITORY / "migrations"))
    made.attributes.update(url=postgres_url, configure_logging=False)
    return made


@pytest.fixture(scope="module")
def database(migrated_url: str) -> str:
    """SQLAlchemy URL of a database with all tables."""
    return migrated_url


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.replace("+psycopg", ""), autocommit=True) as found:
        yield found


@pytest.fixture
def settings(ingest_url: str, kafka_bootstrap: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=ingest_url,
        kafka_bootstrap=kafka_bootstrap,
        ingest_group=f"ingest-{uuid4()}",
        classify_group=f"classify-{uuid4()}",
        ingest_flush_ms=50,
        state_dir=tmp_path / "state",
    )


@pytest.fixture
def job_settings(settings: Settings, jobs_url: str) -> Settings:
    """Settings of the other jobs, which sign in to the database with a role of their own."""
    return settings.model_copy(update={"database_url": jobs_url})


@pytest.fixture
def isolation_group(kafka_bootstrap: str) -> str:
    """A group of `isolation` that begins with what is sent from now on: all tests share the topics, and each sends other traffic."""
    group = f"isolation-{uuid4()}"
    begin_at_ends(kafka_bootstrap, group, "wallwatch.vf_traffic")
    return group


class Job(Protocol):
    def run(self) -> None: ...

    def stop(self) -> None: ...


J = TypeVar("J", bound=Job)


@contextmanager
def running_job(job: J) -> Iterator[J]:
    """A job in a thread; what it died of is raised at the end."""
    died: list[BaseException] = []

    def work() -> None:
        try:
            job.run()
        except BaseException as error:
            died.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield job
    finally:
        job.stop()
        thread.join(90)
        assert not thread.is_alive()
        if died:
            raise died[0]  # also in the place of the test's own failure, whose cause it is


@pytest.fixture
def ingest(settings: Settings) -> Callable[[], AbstractContextManager[Ingest]]:
    """Start ingest as often as wished, always in the same consumer group."""
    return lambda: running_job(Ingest(settings))


@pytest.fixture
def send(kafka_bootstrap: str) -> Callable[..., None]:
    """Send messages to a topic and wait until the broker has them."""
    producer = kafka_clients.producer(KafkaSettings(kafka_bootstrap=kafka_bootstrap))

    def send_all(topic: str, *values: bytes | dict[str, Any], key: str = "host") -> None:
        for value in values:
            producer.produce(topic, key=key, value=value if isinstance(value, bytes) else json.dumps(value).encode())
        assert producer.flush(90) == 0

    return send_all


def until(ask: Callable[[], Any], timeout_s: float = 90.0) -> Any:
    """Ask again until the answer is true; the last answer when time is up."""
    deadline = time.monotonic() + timeout_s
    while not (answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


@pytest.fixture
def host() -> str:
    """A host name that no other test uses."""
    return f"host-{uuid4().hex[:12]}"
