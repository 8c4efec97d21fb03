"""Runs the broker of docker-compose.yml and of the chart without a container: the same script and settings, other ports and folders."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGTERM

from confluent_kafka import KafkaException

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.store.kafka_certificates import KafkaCertificates
from wallwatch_local import kafka, ports
from wallwatch_local.paths import REPOSITORY, tools_dir
from wallwatch_local.processes import die_with_parent, running

SOURCE = REPOSITORY / "docker" / "kafka"
ADMIN_PASSWORD = "admin-password-of-a-test"
CLUSTER = "d2FsbHdhdGNoLWthZmthMQ"


@dataclass
class BundledBroker:
    """A folder with certificates, data and log, and the ports in place of those of the containers."""

    folder: Path
    controller: int = 0
    internal: int = 0
    hosts: int = 0
    process: int = 0
    """Number of the broker's process while it runs."""
    passwords: dict[KafkaRole, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.controller, self.internal, self.hosts = ports.free_ports(3)
        self.passwords = {role: f"password-of-{role}-in-a-test" for role in KafkaRole} | {KafkaRole.admin: ADMIN_PASSWORD}
        self.certificates.ensure(["localhost"], datetime.now(UTC))

    @property
    def certificates(self) -> KafkaCertificates:
        return KafkaCertificates(self.folder / "certificates")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "kafka.log"

    def environment(self) -> dict[str, str]:
        """What the containers give the script."""
        return {
            "CLUSTER_ID": CLUSTER,
            "WALLWATCH_KAFKA_DATA": str(self.data),
            "WALLWATCH_KAFKA_INTERNAL_HOST": "localhost",
            "WALLWATCH_KAFKA_ADVERTISED_HOST": "localhost",
            "WALLWATCH_KAFKA_ADVERTISED_PORT": str(self.hosts),
            "WALLWATCH_KAFKA_PASSWORD_ADMIN": ADMIN_PASSWORD,
            "WALLWATCH_KAFKA_LIBS": str(tools_dir() / "kafka"),
            "KAFKA_HEAP_OPTS": "-Xms128m -Xmx512m",
        }

    def script(self) -> Path:
        """A copy of the files with folders and ports of this test; each replacement must have something to replace."""
        copy = self.folder / "etc"
        copy.mkdir(exist_ok=True)
        replacements = {
            "/etc/wallwatch-kafka": str(self.certificates.folder),
            "localhost:9093": f"localhost:{self.controller}",
            "INTERNAL://:19092": f"INTERNAL://localhost:{self.internal}",
            "INTERNAL_HOST}:19092": f"INTERNAL_HOST}}:{self.internal}",
            "HOSTS://:9092": f"HOSTS://localhost:{self.hosts}",
        }
        settings, script = ((SOURCE / name).read_text() for name in ("server.properties", "start.sh"))
        for former, new in replacements.items():
            assert former in settings, former
            settings = settings.replace(former, new)
        (copy / "server.properties").write_text(settings)
        (copy / "start.sh").write_text(script.replace("/etc/wallwatch-kafka", str(self.certificates.folder)))
        (copy / "log4j2.yaml").write_text((SOURCE / "log4j2.yaml").read_text())
        return copy / "start.sh"

    def client(self, role: KafkaRole, port: int | None = None, mechanism: str | None = None) -> KafkaSettings:
        """Settings of a process with a role, as Compose and the chart give them."""
        return KafkaSettings.model_validate(
            {
                "kafka_bootstrap": f"localhost:{port or self.internal}",
                "kafka_security_protocol": "SASL_SSL",
                "kafka_sasl_mechanism": mechanism or ("PLAIN" if role is KafkaRole.admin else "SCRAM-SHA-512"),
                "kafka_sasl_username": role.user,
                "kafka_sasl_password": self.passwords[role],
                "kafka_ca_file": self.certificates.ca_file,
            }
        )

    @contextmanager
    def started(self) -> Iterator[None]:
        """Run it for the length of the block."""
        command = ["env", *(f"{name}={value}" for name, value in self.environment().items()), "sh", str(self.script())]
        with running("Kafka", die_with_parent(command, SIGTERM), self.log, self.is_ready, SIGTERM) as process:
            self.process = process.pid
            yield

    def is_ready(self) -> bool:
        """Whether it answers the admin."""
        client = kafka_clients.admin(self.client(KafkaRole.admin), {"log_level": 0, "socket.timeout.ms": 2000})
        try:
            return len(client.list_topics(timeout=1.0).brokers) > 0
        except KafkaException:
            return False


@contextmanager
def unsecured(broker: BundledBroker) -> Iterator[str]:
    """The broker of the earlier release on the same folder: the settings that its containers had, every listener without TLS or users."""
    settings = {
        "node.id": "1",
        "process.roles": "broker,controller",
        "controller.quorum.voters": f"1@localhost:{broker.controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"CONTROLLER://localhost:{broker.controller},INTERNAL://localhost:{broker.internal},HOSTS://localhost:{broker.hosts}",
        "advertised.listeners": f"INTERNAL://localhost:{broker.internal},HOSTS://localhost:{broker.hosts}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,HOSTS:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        "offsets.topic.replication.factor": "1",
        # The release had 50; their creation takes most of a minute on a busy machine and adds nothing here.
        "offsets.topic.num.partitions": "2",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "auto.create.topics.enable": "false",
        "log.dirs": str(broker.data),
    }
    file = broker.folder / "earlier.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    if not (broker.data / "meta.properties").exists():
        command = kafka.java(kafka.BRIEF, "kafka.tools.StorageTool", "format", f"--cluster-id={CLUSTER}", "-c", str(file))
        subprocess.run(command, check=True, capture_output=True)
    bootstrap = f"localhost:{broker.internal}"
    command = die_with_parent(kafka.java(kafka.BROKER, "kafka.Kafka", str(file)), SIGTERM)
    with running("earlier Kafka", command, broker.folder / "earlier.log", lambda: kafka.is_ready(bootstrap), SIGTERM):
        yield bootstrap
