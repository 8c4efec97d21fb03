"""The start script of the bundled broker: what it refuses, and that Kafka takes the certificate that Helm makes."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch_testing.bundled_broker import BundledBroker


def start(broker: BundledBroker, changes: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script as far as its checks: there is no Java on the path."""
    tools = broker.folder / "bin"
    if not tools.exists():
        tools.mkdir()
        for name in ("sh", "grep", "printenv", "dirname"):
            (tools / name).symlink_to(Path("/usr/bin") / name)
    environment = {name: value for name, value in (broker.environment() | (changes or {})).items() if value}
    script = [str(tools / "sh"), str(broker.script())]
    return subprocess.run(script, env=environment | {"PATH": str(tools)}, capture_output=True, text=True, check=False)


@pytest.fixture
def broker(tmp_path: Path) -> BundledBroker:
    return BundledBroker(tmp_path)


def test_with_everything_it_comes_as_far_as_java(broker: BundledBroker) -> None:
    done = start(broker)
    assert "java" in done.stderr
    assert done.returncode != 2


@pytest.mark.parametrize(
    ("variable", "value", "word"),
    [
        ("CLUSTER_ID", "", "set CLUSTER_ID"),
        ("WALLWATCH_KAFKA_DATA", "", "set WALLWATCH_KAFKA_DATA"),
        ("WALLWATCH_KAFKA_ADVERTISED_HOST", "", "set WALLWATCH_KAFKA_ADVERTISED_HOST"),
        ("WALLWATCH_KAFKA_PASSWORD_ADMIN", "", "set WALLWATCH_KAFKA_PASSWORD_ADMIN"),
        ("WALLWATCH_KAFKA_PASSWORD_ADMIN", "tiny-pass", "at least 12 characters"),
        ("WALLWATCH_KAFKA_PASSWORD_ADMIN", 'x" user_mallory="mallory-mallory', "letters, digits"),
        ("WALLWATCH_KAFKA_PASSWORD_ADMIN", "long-enough-$" + "{env:PATH}", "letters, digits"),
    ],
)
def test_a_wrong_variable_is_named_and_its_value_is_not(broker: BundledBroker, variable: str, value: str, word: str) -> None:
    done = start(broker, {variable: value})
    assert done.returncode == 2
    assert word in done.stderr
    assert not value or value not in done.stderr


@pytest.mark.parametrize("file", ["tls.key", "tls.crt", "ca.crt"])
def test_a_missing_certificate_is_named(broker: BundledBroker, file: str) -> None:
    (broker.certificates.broker / file).unlink()
    done = start(broker)
    assert done.returncode == 2
    assert f"{file} is missing" in done.stderr


def test_a_key_that_kafka_cannot_read_is_named_with_the_remedy(broker: BundledBroker) -> None:
    (broker.certificates.broker / "tls.key").write_text("-----BEGIN RSA PRIVATE KEY-----\n")
    done = start(broker)
    assert done.returncode == 2
    assert "privateKey.encoding: PKCS8" in done.stderr


@pytest.mark.integration
@pytest.mark.long
def test_kafka_and_its_clients_take_the_certificate_that_helm_makes(broker: BundledBroker, render_chart: Any) -> None:
    done = render_chart("--set=host.enabled=false")
    [secret] = [m for m in yaml.safe_load_all(done.stdout) if m and m["metadata"]["name"] == "wallwatch-kafka-tls"]
    for name in ("tls.key", "tls.crt", "ca.crt"):
        (broker.certificates.broker / name).write_text(secret["stringData"][name])
    broker.certificates.ca_file.write_text(secret["stringData"]["ca.crt"])
    with broker.started():
        admin = kafka_clients.admin(broker.client(KafkaRole.admin))
        assert admin.list_topics(timeout=90).brokers
