"""Fixtures with a real PostgreSQL + TimescaleDB and a real Kafka broker: started on first use, once per test process.

If `make test-servers` runs servers, the fixtures use those instead. Tests that use neither fixture start neither server. Slow imports are
inside the functions that use them, because every test run loads this module.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wallwatch_local.paths import FAILURES_VARIABLE

if TYPE_CHECKING:
    from wallwatch_local.kept_servers import Servers

SERVER_FIXTURES = {"postgres_server", "kafka_bootstrap"}
REQUIRES_SERVERS = "requires servers"  # a property of such tests, which their reports have, too


def pytest_addoption(parser: pytest.Parser) -> None:
    """Wallwatch's own options."""
    parser.addoption("--no-servers", action="store_true", help="skip tests that require PostgreSQL, Kafka or another real component")


def pytest_configure(config: pytest.Config) -> None:
    """Record failures where the runner of all tests wants that; tests that start pytest themselves do not inherit it."""
    path = os.environ.pop(FAILURES_VARIABLE, None)
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(Path(path)))


class _Failures:
    """Writes a line for each failed test or fixture: the test, whether it requires servers, and the reason."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.failed:
            return
        from wallwatch_local.second_tries import record

        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message if crash is not None else str(report.longrepr)
        record(self._path, report.nodeid, reason, real=REQUIRES_SERVERS in dict(getattr(report, "user_properties", ())))


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> None:
    """Load the two large testing libraries only for test modules that use them; most use neither."""
    if not isinstance(collector, pytest.Module):
        return
    text = collector.path.read_bytes()
    if b"hypothesis" in text:
        _load_hypothesis()
    if b"schemathesis" in text:
        collector.config.pluginmanager.import_plugin("schemathesis.pytest.plugin")


def _load_hypothesis() -> None:
    from hypothesis import HealthCheck, settings

    # A busy machine must not fail tests: no deadlines, and no limit on how long it takes to make the examples.
    settings.register_profile("wallwatch", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    # The profile "ci" has the same and gives each test the same examples in every run, so that a change fails only by what it changed. New
    # examples are tried wherever the tests run otherwise.
    settings.load_profile("ci" if os.environ.get("CI") else "wallwatch")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Disable Hypothesis's summary when no test module uses Hypothesis: the summary would import all of it."""
    if "hypothesis" not in sys.modules:
        session.config.pluginmanager.unregister(name="hypothesispytest")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which tests require a server; with `--no-servers`, skip them; with several processes, start with the longest modules."""
    for item in filter(_needs_servers, items):
        item.user_properties.append((REQUIRES_SERVERS, True))
    if config.getoption("--no-servers"):
        left_out = [item for item in items if _needs_servers(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _needs_servers(item)]
    if hasattr(config, "workerinput"):  # set by pytest-xdist: this is one of several processes
        items.sort(key=lambda item: item.get_closest_marker("long") is None)


def _needs_servers(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("integration") or item.get_closest_marker("faults")
    return marked is not None or not SERVER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def kept_servers() -> "Servers | None":
    """The servers of `make test-servers`, or None."""
    from wallwatch_local import kept_servers
    from wallwatch_local.errors import LocalStackError

    try:
        return kept_servers.find()
    except LocalStackError as error:
        pytest.exit(str(error), returncode=3)


@pytest.fixture(scope="session")
def postgres_server(kept_servers: "Servers | None", tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SQLAlchemy URL of a server for the whole run; its database ``wallwatch`` is a template, so don't write to it."""
    from wallwatch_local import postgres, template_databases

    if kept_servers is not None:
        template_databases.prepare(kept_servers.database_url)
        yield kept_servers.database_url
        return
    with postgres.start(tmp_path_factory.mktemp("postgres"), durable=False) as url:
        template_databases.prepare(url)
        yield url


@pytest.fixture(scope="session")
def migrated_template(postgres_server: str) -> str:
    """Name of a template on the same server that has all tables."""
    from wallwatch_local import template_databases

    return template_databases.migrated_template(postgres_server)


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """SQLAlchemy URL of this test module's own database: empty except for the extension TimescaleDB."""
    from wallwatch_local import template_databases

    with template_databases.copy(postgres_server, template_databases.EMPTY) as url:
        yield url


@pytest.fixture(scope="module")
def migrated_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """SQLAlchemy URL of this test module's own database, at the newest revision."""
    from wallwatch_local import template_databases

    with template_databases.copy(postgres_server, migrated_template) as url:
        yield url


@pytest.fixture(scope="module")
def backend_url(migrated_url: str) -> str:
    """The same database for the backend's role."""
    return _as_role(migrated_url, "wallwatch_backend")


@pytest.fixture(scope="module")
def ingest_url(migrated_url: str) -> str:
    """The same database for the role of ingest."""
    return _as_role(migrated_url, "wallwatch_ingest")


@pytest.fixture(scope="module")
def jobs_url(migrated_url: str) -> str:
    """The same database for the role of all other jobs."""
    return _as_role(migrated_url, "wallwatch_jobs")


def _as_role(url: str, role: str) -> str:
    from wallwatch_local import template_databases

    return template_databases.as_role(url, role)


@pytest.fixture(scope="session")
def kafka_bootstrap(kept_servers: "Servers | None", tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a broker for the whole run with the declared topics, 2 partitions each.

    All tests share the topics: use your own host names or topics.
    """
    from contextlib import ExitStack

    from wallwatch.jobs.topics import create_topics
    from wallwatch.kafka_settings import KafkaSettings
    from wallwatch_local import kafka
    from wallwatch_local import kept_servers as kept

    with ExitStack() as stack:
        bootstrap = stack.enter_context(kept.broker(kept_servers)) if kept_servers is not None else None
        if bootstrap is None:
            bootstrap = stack.enter_context(kafka.start(tmp_path_factory.mktemp("kafka")))
        create_topics(KafkaSettings(kafka_bootstrap=bootstrap), partitions=2)
        yield bootstrap


@pytest.fixture
def free_port() -> int:
    """A free TCP port of the loopback interface."""
    from wallwatch_local import ports

    return ports.free_ports(1)[0]


@pytest.fixture
def short_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary folder whose path is short enough for Unix sockets (108 bytes)."""
    return tmp_path_factory.mktemp("s")
