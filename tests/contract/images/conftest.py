"""The images that `make images` built, and the servers that their processes need."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from wallwatch_local import buildah, postgres
from wallwatch_local.image_builds import published
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.ports import LOOPBACK, free_ports
from wallwatch_testing.bundled_broker import ADMIN_PASSWORD, BundledBroker
from wallwatch_testing.containers import Container, Machine, Service, at_ports
from wallwatch_testing.stack import wait_for

BUILT = "WALLWATCH_IMAGES"
"""Set by `make images` and `make images-check`; without it there is nothing to try."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the images where nobody built them."""
    if BUILT not in os.environ:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no images were built: make images"))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    store = buildah.own()
    missing = [name for name in published().values() if not store.has(name)]
    assert missing == [], "make images builds them"
    return Machine(store, tmp_path_factory.mktemp("machine"))


@dataclass(frozen=True)
class Servers:
    """A PostgreSQL and the bundled broker in the place of their containers, and the services of Compose that reach them."""

    broker: BundledBroker
    services: dict[str, Service]


@pytest.fixture(scope="session")
def servers(composecheck: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("servers")
    data = folder / "postgres"
    broker = BundledBroker(folder / "kafka")
    with postgres.start(data, durable=False) as url, broker.started():
        address = httpx.URL(url.replace("+psycopg", ""))
        yield Servers(broker, services(composecheck, address, broker))


def services(composecheck: Path, database: httpx.URL, broker: BundledBroker) -> dict[str, Service]:
    """The services, with the addresses of these servers."""
    example = (REPOSITORY / "docker" / "example.env").read_text().splitlines()
    # Without digits, so that no port is looked for in them.
    passwords = {line.rstrip("="): f"{line.rstrip('=').lower().replace('_', '-')}-of-a-test" for line in example if line.endswith("=")}
    given = {
        **{name: value for name, value in passwords.items() if not name.startswith("#")},
        "WALLWATCH_KAFKA_PASSWORD_ADMIN": ADMIN_PASSWORD,
        "WALLWATCH_POSTGRES_ADMIN": database.username,
        "WALLWATCH_POSTGRES_PASSWORD": database.password,
        "WALLWATCH_HOST": "a-host",
        "WALLWATCH_HOST_KAFKA_BOOTSTRAP": f"localhost:{broker.hosts}",
        "PATH": os.environ["PATH"],
    }
    command = [str(composecheck), str(REPOSITORY / "docker-compose.yml")]
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=True)
    places = {"@timescaledb:5432": f"@{LOOPBACK}:{database.port}", "kafka:19092": f"localhost:{broker.internal}"}
    text = done.stdout
    for place, other in places.items():
        assert place in text
        text = text.replace(place, other)
    loaded: dict[str, Service] = json.loads(text)["services"]
    return loaded


@pytest.fixture(scope="session")
def migrated(machine: Machine, servers: Servers) -> Servers:
    """After the service `migrate`, which makes roles, tables, users of Kafka and topics."""
    trusted = machine.volume("kafka-ca")
    trusted.mkdir(parents=True)
    (trusted / "ca.pem").write_bytes(servers.broker.certificates.ca_file.read_bytes())
    (trusted / "ca.pem").chmod(0o644)
    code, said = machine.ended("migrate", servers.services["migrate"])
    assert code == 0, said[-3000:]
    return servers


@dataclass(frozen=True)
class Backend:
    """The service `backend`, healthy, and where it answers browsers and agents."""

    container: Container
    url: str
    agent_url: str


@pytest.fixture(scope="session")
def backend(machine: Machine, migrated: Servers) -> Iterator[Backend]:
    http, agents = free_ports(2)
    service = at_ports(migrated.services["backend"], {8080: http, 8443: agents})
    with machine.started("backend", service) as container:
        wait_for("a healthy backend", container.is_healthy, timeout_s=120)
        yield Backend(container, f"http://{LOOPBACK}:{http}", f"https://localhost:{agents}")
