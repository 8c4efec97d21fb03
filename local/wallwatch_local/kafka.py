"""One Kafka broker in KRaft mode: broker and controller in one JVM, in one folder."""

import os
import re
import shutil
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM

from confluent_kafka import KafkaException

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import ports
from wallwatch_local.errors import LocalStackError
from wallwatch_local.kafka_security import Security
from wallwatch_local.paths import REPOSITORY, tools_dir
from wallwatch_local.processes import die_with_parent, running

LOG_SETTINGS = REPOSITORY / "docker" / "kafka" / "log4j2.yaml"
# Measured in the demo: 340 MB resident in total. The data itself is in the page cache.
BROKER = ["-Xms192m", "-Xmx768m", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=50"]
# A process that runs for a second does not benefit from the second compiler: 1.3 s of CPU instead of 2.2 s.
BRIEF = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def java(options: list[str], main_class: str, *arguments: str) -> list[str]:
    """The command of one of Kafka's programs."""
    jars = tools_dir() / "kafka"
    if not any(jars.glob("kafka_2.13-*.jar")):
        raise LocalStackError(f"the Kafka broker is not installed ({jars} has no kafka_2.13 jar): run 'make setup'")
    return ["java", *options, f"-Dlog4j2.configurationFile={LOG_SETTINGS}", "-cp", f"{jars}/*", main_class, *arguments]


def _write_settings(data_dir: Path, port: int, controller_port: int, security: Security | None) -> Path:
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{ports.LOOPBACK}:{controller_port}",
        "listeners": f"PLAINTEXT://{ports.LOOPBACK}:{port},CONTROLLER://{ports.LOOPBACK}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{ports.LOOPBACK}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(data_dir / "log"),
        # one broker: nothing can be replicated
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        # topics come from topics.yaml; a misspelt name must be an error, not a new topic
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "log.segment.bytes": str(64 * 1024 * 1024),
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
        "log.retention.check.interval.ms": "60000",
    }
    if security is not None:
        settings |= security.broker_settings(port, controller_port)
    file = data_dir / "server.properties"
    file.touch(mode=0o600)
    file.chmod(0o600)  # it may have a password
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return file


def _format(data_dir: Path, settings: Path, security: Security | None) -> None:
    secured = data_dir / "secured"
    if (data_dir / "log" / "meta.properties").exists():
        if security is None or secured.exists():
            return
        # Of a release whose broker asked nobody who they are: its storage has no users. What it holds are samples of minutes.
        shutil.rmtree(data_dir / "log")
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")  # may begin with "-", so it is joined to its option
    done = subprocess.run(
        java(
            BRIEF,
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={cluster}",
            "-c",
            str(settings),
            *(security.format_arguments() if security else []),
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LocalStackError(f"Kafka's storage in {data_dir} could not be formatted:\n{done.stdout}{done.stderr}")
    if security is not None:
        secured.touch()


def initialise(data_dir: Path, port: int, security: Security | None = None) -> list[str]:
    """Write the broker's settings, format its storage on first use, and return the broker's command.

    The controller keeps its port, because the broker stores the quorum's address.
    """
    data_dir = data_dir.resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / "server.properties"
    former = re.search(r"^controller\.quorum\.voters=1@.*:(\d+)$", file.read_text(), re.MULTILINE) if file.exists() else None
    controller_port = int(former.group(1)) if former else 0
    if controller_port == 0 or not ports.is_free(controller_port):
        controller_port = ports.free_ports(1)[0]
    if security is not None:
        security.prepare()
    settings = _write_settings(data_dir, port, controller_port, security)
    _format(data_dir, settings, security)
    return java(BROKER, "kafka.Kafka", str(settings))


def is_ready(bootstrap: str, security: Security | None = None) -> bool:
    """Whether the broker answers a client."""
    try:
        client = kafka_clients.admin(client_of(bootstrap, security), {"log_level": 0, "socket.timeout.ms": 2000})
    except ValueError:
        return False  # its certificates are not there yet
    try:
        return len(client.list_topics(timeout=1.0).brokers) > 0
    except KafkaException:
        return False


def client_of(bootstrap: str, security: Security | None = None, role: KafkaRole = KafkaRole.admin) -> KafkaSettings:
    """Settings of a client that signs in with a role; without security, of any client."""
    if security is None:
        return KafkaSettings(kafka_bootstrap=bootstrap)
    found = {name.removeprefix("WALLWATCH_").lower(): value for name, value in security.environment(role).items()}
    return KafkaSettings.model_validate({"kafka_bootstrap": bootstrap, **found})


@contextmanager
def start(data_dir: Path, port: int | None = None, security: Security | None = None) -> Iterator[str]:
    """Run a broker for the length of the block; yields its address ``host:port``.

    The same folder can be started again and keeps its topics. `wallwatch.jobs.topics.create_topics` creates the topics.
    """
    port = port or ports.free_ports(1)[0]
    command = initialise(data_dir, port, security)
    bootstrap = f"{ports.LOOPBACK}:{port}"
    with running("Kafka", die_with_parent(command, SIGTERM), data_dir / "kafka.log", lambda: is_ready(bootstrap, security), SIGTERM):
        yield bootstrap


def run_in_foreground(data_dir: Path, port: int, security: Security | None = None) -> None:
    """Replace this process with the broker, so that a supervisor can signal the broker directly."""
    command = initialise(data_dir, port, security)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
