"""The broker of docker-compose.yml and of the chart, run from their own files, on a volume that an unsecured release left."""

import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGTERM

import pytest
import yaml
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from pydantic import SecretStr
from typer.testing import CliRunner

from wallwatch import kafka_clients
from wallwatch.cli.main import app
from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.jobs import kafka_access
from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import ports
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing.bundled_broker import ADMIN_PASSWORD, BundledBroker, unsecured
from wallwatch_testing.kafka_lag import committed

pytestmark = [pytest.mark.integration, pytest.mark.long]
TOPIC = "wallwatch.rnic"
PATIENCE_S = 90
"""How long the broker may take on a busy machine."""
MESSAGES = 500
READ = 123
"""How many of them the earlier release had committed."""


def produce(settings: KafkaSettings, topic: str, values: list[bytes]) -> None:
    problems: list[object] = []
    producer = kafka_clients.producer(settings, {"log_level": 0, "message.timeout.ms": PATIENCE_S * 1000})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: problems.append(error) if error else None)
    assert producer.flush(PATIENCE_S) == 0
    if problems:
        raise KafkaException(problems[0])


def earlier_release(broker: BundledBroker) -> None:
    """What an unsecured release leaves in the volume: topics, messages and an offset."""
    with unsecured(broker) as bootstrap:
        anybody = KafkaSettings(kafka_bootstrap=bootstrap)
        create_topics(anybody, partitions=1)
        produce(anybody, TOPIC, [b"%d" % number for number in range(MESSAGES)])
        commit(bootstrap)


def commit(bootstrap: str) -> None:
    """Commit the offset; a new broker coordinates no group for a while, and refuses partition by partition."""
    wanted = ConsumerGroupTopicPartitions("wallwatch-ingest", [TopicPartition(TOPIC, 0, READ)])
    admin = kafka_clients.admin(KafkaSettings(kafka_bootstrap=bootstrap))
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            answer = admin.alter_consumer_group_offsets([wanted])["wallwatch-ingest"].result(10)
            if not any(one.error for one in answer.topic_partitions):
                break
        except (KafkaException, TimeoutError):
            pass
        time.sleep(0.5)
    assert committed(bootstrap, "wallwatch-ingest", [TOPIC]) == {(TOPIC, 0): READ}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BundledBroker]:
    one = BundledBroker(tmp_path_factory.mktemp("bundled"))
    earlier_release(one)
    with one.started():
        admin = one.client(KafkaRole.admin)
        environment = {
            "WALLWATCH_KAFKA_BOOTSTRAP": admin.kafka_bootstrap,
            "WALLWATCH_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "WALLWATCH_KAFKA_SASL_MECHANISM": "PLAIN",
            "WALLWATCH_KAFKA_SASL_USERNAME": "wallwatch-admin",
            "WALLWATCH_KAFKA_SASL_PASSWORD": ADMIN_PASSWORD,
            "WALLWATCH_KAFKA_CA_FILE": str(one.certificates.ca_file),
            **{f"WALLWATCH_KAFKA_PASSWORD_{role.name.upper()}": one.passwords[role] for role in kafka_access.LIMITED},
        }
        done = CliRunner().invoke(app, ["topics", "create"], env=environment)
        assert done.exit_code == 0, done.output
        assert f"{TOPIC}: exists" in done.output or "created" not in done.output, done.output
        assert f"passwords of {len(kafka_access.LIMITED)} users set" in done.output
        yield one


def test_what_an_unsecured_release_left_is_still_there(broker: BundledBroker) -> None:
    ingest = broker.client(KafkaRole.ingest)
    assert read(ingest, TOPIC, MESSAGES) == [b"%d" % number for number in range(MESSAGES)]
    assert committed(broker.client(KafkaRole.admin), "wallwatch-ingest", [TOPIC]) == {(TOPIC, 0): READ}


def test_a_host_writes_by_the_port_for_hosts(broker: BundledBroker) -> None:
    produce(broker.client(KafkaRole.host, broker.hosts), "wallwatch.event", [b"{}"])
    assert read(broker.client(KafkaRole.ingest), "wallwatch.event", 1) == [b"{}"]


@pytest.mark.parametrize("role", kafka_access.LIMITED)
def test_each_role_signs_in_with_its_own_password_only(broker: BundledBroker, role: KafkaRole) -> None:
    own = broker.client(role)
    assert gets_in(own)
    other = next(one for one in kafka_access.LIMITED if one is not role)
    wrong = own.model_copy(update={"kafka_sasl_password": broker.client(other).kafka_sasl_password})
    assert is_kept_out(wrong)


REFUSALS = {KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}


def gets_in(settings: KafkaSettings) -> bool:
    """Whether the broker answers, as long as the test is patient: a slow machine breaks connections, too, and clients try again."""
    return answers(settings, PATIENCE_S, give_up_on=set())


def is_kept_out(settings: KafkaSettings, patience_s: float = PATIENCE_S) -> bool:
    """Whether the broker said no or, for as long as the test is patient, gave no answer."""
    return not answers(settings, patience_s, give_up_on=REFUSALS)


def answers(settings: KafkaSettings, patience_s: float, give_up_on: set[int]) -> bool:
    """Whether the broker answers before it is too late or one of these errors is met."""
    errors: list[int] = []
    more = {"log_level": 0, "socket.timeout.ms": 10_000, "error_cb": lambda error: errors.append(error.code())}
    client = kafka_clients.admin(settings, more)
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and not give_up_on.intersection(errors):
        try:
            return bool(client.list_topics(timeout=2).brokers)
        except KafkaException:
            client.poll(0)
    return False


def read(settings: KafkaSettings, topic: str, count: int, patience_s: float = PATIENCE_S) -> list[bytes]:
    """The first messages of a topic of one partition."""
    consumer = kafka_clients.consumer(settings, {"group.id": "wallwatch-ingest", "enable.auto.commit": False, "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + patience_s
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(2)
        if message is not None:
            assert message.error() is None, message.error()
            found.append(message.value() or b"")
    consumer.close()
    return found


def test_the_shipped_collector_sends_to_it_with_the_environment_of_compose(broker: BundledBroker, tmp_path: Path) -> None:
    events = tmp_path / "cni-events"
    events.mkdir()
    event = {"at": datetime.now(UTC).isoformat(), "command": "CHECK", "container": "container-of-this-test", "result": "ok"}
    (events / "00000000000000000001-1.json").write_text(json.dumps(event))
    places = {
        "/var/lib/wallwatch-telegraf": tmp_path / "buffer",
        "/run/wallwatch/cni-events": events,
        "/var/lib/wallwatch-agent": tmp_path / "agent",
        "/host/": f"{tmp_path}/host/",
        "/run/openvswitch": tmp_path / "openvswitch",
    }
    configuration = (REPOSITORY / "docker" / "host" / "telegraf.conf").read_text()
    for former, new in places.items():
        assert former in configuration
        configuration = configuration.replace(former, str(new))
    (tmp_path / "telegraf.conf").write_text(configuration)
    environment = {
        "WALLWATCH_HOST": "h1",
        "WALLWATCH_RACK": "r1",
        "WALLWATCH_TELEMETRY_KEY": "wwt1_" + "k" * 43,
        "WALLWATCH_KAFKA_BOOTSTRAP": f"localhost:{broker.hosts}",
        "WALLWATCH_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "WALLWATCH_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
        "WALLWATCH_KAFKA_SASL_USERNAME": "wallwatch-host",
        "WALLWATCH_KAFKA_SASL_PASSWORD": broker.passwords[KafkaRole.host],
        "WALLWATCH_KAFKA_CA_FILE": str(broker.certificates.ca_file),
    }
    program = [str(binary("wallwatch-telegraf")), "--config", str(tmp_path / "telegraf.conf")]
    command = ["env", *(f"{name}={value}" for name, value in environment.items()), *program]
    ingest = broker.client(KafkaRole.ingest)

    def arrived() -> bool:
        # Not only the first ones: what this machine's kernel logs meanwhile are events, too.
        return any(b"container-of-this-test" in value for value in read(ingest, "wallwatch.event", 1_000, patience_s=5))

    with running("the collector", die_with_parent(command, SIGTERM), tmp_path / "telegraf.log", arrived, SIGTERM):
        assert broker.passwords[KafkaRole.host] not in (tmp_path / "telegraf.log").read_text()


def test_without_a_name_or_without_tls_nobody_gets_in_at_any_port(broker: BundledBroker) -> None:
    attempts = []
    for port in (broker.internal, broker.hosts, broker.controller):
        address = f"localhost:{port}"
        nameless = KafkaSettings(kafka_bootstrap=address, kafka_security_protocol="SSL", kafka_ca_file=broker.certificates.ca_file)
        in_clear = {"kafka_security_protocol": "SASL_PLAINTEXT", "kafka_ca_file": None}
        attempts += [KafkaSettings(kafka_bootstrap=address), nameless, broker.client(KafkaRole.host, port).model_copy(update=in_clear)]
    # The broker ends some of these connections without a word, so all of them wait at once.
    with ThreadPoolExecutor(len(attempts)) as pool:
        assert all(pool.map(lambda settings: is_kept_out(settings, patience_s=10), attempts))
    assert gets_in(broker.client(KafkaRole.host, broker.hosts)), "it was the broker that refused, and it still answers"


def test_the_admin_signs_in_inside_only(broker: BundledBroker) -> None:
    assert gets_in(broker.client(KafkaRole.admin))
    assert is_kept_out(broker.client(KafkaRole.admin, broker.hosts))
    assert is_kept_out(broker.client(KafkaRole.admin, broker.hosts, "SCRAM-SHA-512"))
    assert is_kept_out(broker.client(KafkaRole.host, mechanism="PLAIN"))


def test_a_role_is_refused_what_another_may(broker: BundledBroker) -> None:
    host, ingest = broker.client(KafkaRole.host), broker.client(KafkaRole.ingest)
    with pytest.raises(KafkaException):
        produce(host, "wallwatch.findings", [b"{}"])
    with pytest.raises(KafkaException):
        produce(ingest, TOPIC, [b"{}"])
    with pytest.raises(KafkaException):
        create_topics(ingest, partitions=1)
    consumer = kafka_clients.consumer(host, {"group.id": "wallwatch-host", "log_level": 0})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    message = consumer.poll(PATIENCE_S)
    assert message is not None
    error = message.error()
    assert error is not None
    assert error.code() in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED)
    consumer.close()


def test_the_health_check_of_compose_and_chart_sees_the_difference(broker: BundledBroker) -> None:
    service = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]["kafka"]
    kind, *command = service["healthcheck"]["test"]
    assert kind == "CMD"
    for port, healthy in {broker.internal: True, ports.free_ports(1)[0]: False}.items():
        check = [argument.replace("localhost:19092", f"localhost:{port}") for argument in command]
        assert check != command
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is healthy, done.stdout


def test_the_log_says_who_was_refused(broker: BundledBroker) -> None:
    wrong = broker.client(KafkaRole.host).model_copy(update={"kafka_sasl_password": SecretStr("not-the-password")})
    assert is_kept_out(wrong)
    with pytest.raises(KafkaException):
        produce(broker.client(KafkaRole.host), "wallwatch.dead_letter", [b"{}"])
    deadline = time.monotonic() + PATIENCE_S
    wanted = {"Failed authentication", "Principal = User:wallwatch-host is Denied operation = "}
    while missing := {text for text in wanted if text not in broker.log.read_text(errors="replace")}:
        assert time.monotonic() < deadline, missing
        time.sleep(0.2)


def test_no_secret_is_in_arguments_settings_or_log(broker: BundledBroker) -> None:
    key = (broker.certificates.broker / "tls.key").read_text().splitlines()[1]
    arguments = Path(f"/proc/{broker.process}/cmdline").read_bytes().decode(errors="replace")
    assert "kafka.Kafka" in arguments
    places = {"arguments": arguments, "log": broker.log.read_text(errors="replace")}
    places |= {file.name: file.read_text() for file in (broker.folder / "etc").iterdir()}
    for name, text in places.items():
        assert not [secret for secret in (key, *broker.passwords.values()) if secret in text], name
