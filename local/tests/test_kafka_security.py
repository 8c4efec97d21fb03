"""The secured broker: each role can do what it needs and nothing else; without credentials nobody can do anything."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import KafkaRole, topics
from wallwatch.jobs import kafka_access
from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import kafka
from wallwatch_local.kafka_security import Security
from wallwatch_local.paths import binary

pytestmark = pytest.mark.integration
TELEMETRY = [topic.name for topic in topics().values() if topic.writers == (KafkaRole.host,)]


@dataclass(frozen=True)
class Secured:
    """A running broker with users and rights."""

    bootstrap: str
    security: Security

    def client(self, role: KafkaRole) -> KafkaSettings:
        return kafka.client_of(self.bootstrap, self.security, role)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("k")
    security = Security(folder / "security")
    with kafka.start(folder / "kafka", security=security) as bootstrap:
        admin = kafka.client_of(bootstrap, security)
        create_topics(admin, partitions=1)
        first = kafka_access.apply(kafka_clients.admin(admin), kafka_access.passwords_of(security.passwords))
        assert (first.users, first.granted, first.revoked) == (len(KafkaRole), len(set(kafka_access.bindings())), 0)
        yield Secured(bootstrap, security)


def written(settings: KafkaSettings, topic: str) -> KafkaError | None:
    """Write one message; the error of the broker, or None."""
    errors: list[KafkaError | None] = []
    producer = kafka_clients.producer(settings, {"message.timeout.ms": 60_000, "log_level": 0, "allow.auto.create.topics": False})
    producer.produce(topic, b"{}", on_delivery=lambda error, _: errors.append(error))
    producer.flush(90)
    return errors[0] if errors else KafkaError(KafkaError._TIMED_OUT)


def is_readable(settings: KafkaSettings, topic: str, group: str) -> bool:
    """Read the beginning of a topic: the client says that it is at the end, that it may not read, or that there is no such topic."""
    more = {"group.id": group, "enable.partition.eof": True, "log_level": 0, "allow.auto.create.topics": False}
    consumer = kafka_clients.consumer(settings, more)
    try:
        consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60)
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(90)
        assert message is not None, f"{topic}: no answer"
        error = message.error()
        return error is None or error.code() == KafkaError._PARTITION_EOF
    except KafkaException:
        return False
    finally:
        consumer.close()


@pytest.mark.parametrize("role", [role for role in KafkaRole if role is not KafkaRole.admin])
def test_each_role_writes_and_reads_what_is_declared_and_nothing_else(broker: Secured, role: KafkaRole) -> None:
    settings = broker.client(role)
    for topic in topics().values():
        refused = written(settings, topic.name)
        assert (refused is None) == (role in topic.writers), (role, topic.name, refused)
        if refused is not None:
            assert refused.code() in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._UNKNOWN_TOPIC), refused
        readable = is_readable(settings, topic.name, kafka_access.GROUPS.get(role, "other"))
        assert readable == (role in topic.readers), (role, topic.name)


def test_without_credentials_with_wrong_ones_or_without_tls_nobody_gets_in(broker: Secured, tmp_path: Path) -> None:
    wrong = tmp_path / "password"
    wrong.write_text("not the password")
    good = broker.client(KafkaRole.host)
    attempts = {
        "no credentials": KafkaSettings(kafka_bootstrap=broker.bootstrap),
        "tls alone": KafkaSettings(kafka_bootstrap=broker.bootstrap, kafka_security_protocol="SSL", kafka_ca_file=broker.security.ca_file),
        "wrong password": good.model_copy(update={"kafka_sasl_password_file": wrong}),
        "in clear text": good.model_copy(update={"kafka_security_protocol": "SASL_PLAINTEXT", "kafka_ca_file": None}),
    }
    for name, settings in attempts.items():
        client = kafka_clients.producer(settings, {"log_level": 0, "socket.timeout.ms": 2000})
        with pytest.raises(KafkaException):
            client.list_topics(timeout=4)
        assert name


def test_a_broker_of_another_authority_is_not_trusted(broker: Secured, tmp_path: Path) -> None:
    other = Security(tmp_path / "other")
    other.prepare()
    client = kafka_clients.producer(
        broker.client(KafkaRole.host).model_copy(update={"kafka_ca_file": other.ca_file}), {"log_level": 0, "socket.timeout.ms": 2000}
    )
    with pytest.raises(KafkaException):
        client.list_topics(timeout=4)


def test_a_host_creates_no_topic_and_sees_no_other(broker: Secured) -> None:
    host = kafka_clients.producer(broker.client(KafkaRole.host), {"log_level": 0})
    seen = set(host.list_topics(timeout=60).topics)
    assert set(TELEMETRY) <= seen
    assert "wallwatch.findings" not in seen
    with pytest.raises(KafkaException):
        create_topics(broker.client(KafkaRole.host), partitions=1)


def test_a_load_signs_in_like_every_process_and_has_the_rights_of_its_user(broker: Secured) -> None:
    def load(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        command = [str(binary("fleetsim")), "load", "--kafka", broker.bootstrap, "--rnics", "5", "--count", "20", "--rate", "-1"]
        others = {name: value for name, value in os.environ.items() if not name.startswith("WALLWATCH_KAFKA")}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=others | environment)

    sent = load(broker.security.environment(KafkaRole.host))
    assert (sent.returncode, sent.stderr) == (0, "")
    refused = load(broker.security.environment(KafkaRole.backend))
    assert refused.returncode == 1
    assert "not authorized" in refused.stderr
    clear_text = load({})
    assert clear_text.returncode == 1
    assert f"kafka at {broker.bootstrap}" in clear_text.stderr


def test_rights_that_are_no_longer_declared_are_revoked_and_the_rest_stays(broker: Secured) -> None:
    from confluent_kafka.admin import AclOperation, ResourceType

    admin = kafka_clients.admin(broker.client(KafkaRole.admin))
    surplus = kafka_access._allow(KafkaRole.host, ResourceType.TOPIC, "wallwatch.findings", AclOperation.WRITE)
    for future in admin.create_acls([surplus]).values():
        future.result(60)
    changed = kafka_access.apply(admin, {})
    assert (changed.users, changed.granted, changed.revoked) == (0, 0, 1)
    assert written(broker.client(KafkaRole.host), "wallwatch.findings") is not None
    assert written(broker.client(KafkaRole.host), "wallwatch.rnic") is None


def test_secrets_are_private(broker: Secured) -> None:
    files = [*broker.security.passwords.iterdir(), broker.security.certificates.broker / "tls.key"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
