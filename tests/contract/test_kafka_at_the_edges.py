"""Kafka's users, certificates and settings in Compose and chart: each process has its own, valid to the code that reads them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.jobs.kafka_access import LIMITED, VARIABLE_PREFIX
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local.paths import REPOSITORY

ROLES = {"migrate": KafkaRole.admin, "telegraf": KafkaRole.host} | {role.name: role for role in LIMITED if role is not KafkaRole.host}
"""The role of each process. The lab's runner has none: it does not use Kafka."""
PREFIX = "WALLWATCH_KAFKA_"
FOLDER = "/etc/wallwatch-kafka"
OWN = ["--set=kafka.enabled=false", r"--set=kafka.bootstrap=k1:9093\,k2:9093"]

WORLDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "SCRAM over TLS": (["--set=kafka.tls.caSecret=ca"], {"SASL_MECHANISM": "SCRAM-SHA-512"}),
    "mutual TLS": (
        ["--set=kafka.tls.caSecret=ca,kafka.client.protocol=SSL,kafka.client.certificates=true,kafka.client.keyPasswords=true"],
        {
            "SECURITY_PROTOCOL": "SSL",
            "CERTIFICATE_FILE": f"{FOLDER}/tls.crt",
            "KEY_FILE": f"{FOLDER}/tls.key",
            "KEY_PASSWORD_FILE": f"{FOLDER}/key-password",
        },
    ),
    "OAuth": (
        [
            "--set=kafka.tls.caSecret=ca,kafka.client.mechanism=OAUTHBEARER,kafka.client.oauth.tokenUrl=https://id.example/token",
            "--set=host.enabled=false",
        ],
        {
            "SASL_MECHANISM": "OAUTHBEARER",
            "OAUTH_TOKEN_URL": "https://id.example/token",
            "OAUTH_CLIENT_SECRET_FILE": f"{FOLDER}/client-secret",
        },
    ),
    "in clear text": (["--set=kafka.client.protocol=PLAINTEXT"], {"SECURITY_PROTOCOL": "PLAINTEXT", "CA_FILE": ""}),
}
"""Ways to reach a cluster of one's own: values of the chart, and variables of docker/own-kafka.yml."""


def roles_of(world: str) -> dict[str, KafkaRole]:
    """The collector knows no OAuth."""
    return {name: role for name, role in ROLES.items() if world != "OAuth" or name != "telegraf"}


def pods(manifests: list[dict[str, Any]]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Name of a container -> (pod, container)."""
    found = [m["spec"]["template"]["spec"] for m in manifests if "template" in m.get("spec", {})]
    return {container["name"]: (pod, container) for pod in found for container in pod["containers"]}


def loaded(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text) if document]


def environment_of(container: dict[str, Any]) -> dict[str, str]:
    return {e["name"]: e["value"] for e in container.get("env", []) if e["name"].startswith(PREFIX) and "value" in e}


def files_of(pod: dict[str, Any], container: dict[str, Any]) -> dict[str, str]:
    """Path in the container -> `Secret/key` of every file of Kafka's."""
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    return {
        f"{mounts[volume['name']]}/{item['path']}": f"{source['secret']['name']}/{item['key']}"
        for volume in pod["volumes"]
        if volume["name"] == "kafka" and volume["name"] in mounts
        for source in volume["projected"]["sources"]
        for item in source["secret"]["items"]
    }


def accepted(variables: dict[str, str], folder: Path) -> KafkaSettings:
    """The settings, as the process would read them; its files are in a folder of the test."""
    authority = next(iter(sorted(folder.glob("*.pem"))))
    given = {}
    for name, value in variables.items():
        if name.endswith("_FILE") and value:
            file = folder / Path(value).name
            file.write_text(authority.read_text() if file.suffix in (".pem", ".crt", ".key") else "a-long-secret")
            value = str(file)
        if value:
            given[name.removeprefix("WALLWATCH_").lower()] = value
    return KafkaSettings.model_validate(given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a certificate."""
    from datetime import UTC, datetime

    from wallwatch.store.kafka_authority import new_authority

    (tmp_path / "ca.pem").write_bytes(new_authority(datetime.now(UTC)).certificate)
    return tmp_path


def test_in_the_chart_each_process_has_the_files_of_its_own_role_only(manifests: list[dict[str, Any]]) -> None:
    found = pods(manifests)
    for name, (pod, container) in found.items():
        role = ROLES.get(name)
        if role is None:
            assert name in ("kafka", "timescaledb", "lab", "agent")
            assert files_of(pod, container) == {}, name
            continue
        assert files_of(pod, container) == {
            f"{FOLDER}/password": f"wallwatch-kafka-{role.name}/password",
            f"{FOLDER}/ca.pem": "wallwatch-kafka-tls/ca.crt",
        }, name
        environment = environment_of(container)
        assert environment[f"{PREFIX}SASL_USERNAME"] == role.user
        assert environment[f"{PREFIX}SASL_PASSWORD_FILE"] == f"{FOLDER}/password"
        assert environment[f"{PREFIX}CA_FILE"] == f"{FOLDER}/ca.pem"


def test_in_compose_each_process_has_the_password_of_its_own_role_only(compose: dict[str, Any], passwords: dict[str, str]) -> None:
    services = compose["services"]
    secrets = {role: passwords[f"{VARIABLE_PREFIX}{role.name.upper()}"] for role in KafkaRole}
    assert len(set(secrets.values())) == len(KafkaRole)
    everybody = {"migrate": set(KafkaRole), "kafka": {KafkaRole.admin}}
    for name, service in services.items():
        text = json.dumps(service)
        has = {role for role, secret in secrets.items() if secret in text}
        assert has == everybody.get(name, {ROLES[name]} if name in ROLES else set()), name
        if name in ROLES:
            assert service["environment"][f"{PREFIX}SASL_USERNAME"] == ROLES[name].user


def test_the_server_believes_what_both_give_it(compose: dict[str, Any], manifests: list[dict[str, Any]], folder: Path) -> None:
    for name, role in ROLES.items():
        mechanism = "PLAIN" if role is KafkaRole.admin else "SCRAM-SHA-512"
        in_compose = {key: value for key, value in compose["services"][name]["environment"].items() if "KAFKA_PASSWORD" not in key}
        in_chart = environment_of(pods(manifests)[name][1])
        for variables in (in_compose, in_chart):
            settings = accepted({key: value for key, value in variables.items() if key.startswith(PREFIX)}, folder)
            assert (settings.kafka_security_protocol, settings.kafka_sasl_mechanism) == ("SASL_SSL", mechanism), name


@pytest.mark.parametrize("world", WORLDS)
def test_the_chart_reaches_a_cluster_of_ones_own(render_chart: Any, world: str, folder: Path) -> None:
    values, variables = WORLDS[world]
    done = render_chart(*OWN, *values)
    assert done.returncode == 0, done.stderr
    manifests = loaded(done.stdout)
    assert not [m for m in manifests if m["metadata"]["name"].startswith("wallwatch-kafka")], "nothing of the bundled broker is left"
    for name, role in roles_of(world).items():
        pod, container = pods(manifests)[name]
        environment = environment_of(container)
        expected = {f"{PREFIX}{key}": value for key, value in variables.items() if value}
        if name == "telegraf":
            expected.pop(f"{PREFIX}KEY_PASSWORD_FILE", None)
        assert expected.items() <= environment.items(), name
        assert accepted(environment, folder).kafka_bootstrap == "k1:9093,k2:9093", name
        files = files_of(pod, container)
        assert {value for key, value in environment.items() if key.endswith("_FILE")} == set(files), name
        assert {source for source in files.values() if not source.startswith("ca/")} == {
            f"wallwatch-kafka-{role.name}/{Path(path).name}" for path in files if not path.endswith("/ca.pem")
        }


@pytest.mark.parametrize("world", WORLDS)
def test_compose_reaches_a_cluster_of_ones_own(
    composecheck: Path, passwords: dict[str, str], tmp_path: Path, world: str, folder: Path
) -> None:
    both = tmp_path / "docker-compose.yml"
    paths = [str(REPOSITORY / "docker-compose.yml"), str(REPOSITORY / "docker" / "own-kafka.yml")]
    both.write_text(yaml.safe_dump({"include": [{"path": paths, "project_directory": str(REPOSITORY)}]}))
    environment = {
        "PATH": os.environ["PATH"],
        **passwords,
        f"{PREFIX}BOOTSTRAP": "k1:9093,k2:9093",
        f"{PREFIX}FILES": "/etc/kafka-files",
        **{f"{PREFIX}{key}": value for key, value in WORLDS[world][1].items()},
    }
    done = subprocess.run([str(composecheck), str(both)], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    services = json.loads(done.stdout)["services"]
    assert services["kafka"]["profiles"] == services["kafka-certificates"]["profiles"] == ["bundled-kafka"]
    for name, service in services.items():
        if "bundled-kafka" not in service.get("profiles", []):
            assert not {"kafka", "kafka-certificates"} & set(service.get("depends_on") or {}), name
    for name in roles_of(world):
        variables = {key: value for key, value in services[name]["environment"].items() if key.startswith(PREFIX)}
        settings = accepted({key: value for key, value in variables.items() if not key.startswith(VARIABLE_PREFIX)}, folder)
        assert settings.kafka_bootstrap == ("localhost:9092" if name == "telegraf" else "k1:9093,k2:9093")
        if name != "telegraf":
            [own] = [volume for volume in services[name]["volumes"] if volume["target"] == FOLDER]
            assert own["source"] == f"/etc/kafka-files/{name}"


def test_the_secrets_of_kafka_are_in_secrets_only(manifests: list[dict[str, Any]]) -> None:
    secrets = [m for m in manifests if m["kind"] == "Secret" and m["metadata"]["name"].startswith("wallwatch-kafka-")]
    passwords = [m["stringData"]["password"] for m in secrets if "password" in m["stringData"]]
    assert len(set(passwords)) == len(KafkaRole)
    assert all(len(password) == 32 for password in passwords)
    keys = [m["stringData"]["tls.key"] for m in secrets if "tls.key" in m["stringData"]]
    assert len(keys) == 2
    for manifest in manifests:
        if manifest not in secrets:
            text = json.dumps(manifest)
            assert not [secret for secret in (*passwords, *keys) if secret in text], manifest["metadata"]["name"]


def test_no_pod_has_the_key_of_the_authority(manifests: list[dict[str, Any]], compose: dict[str, Any]) -> None:
    for manifest in manifests:
        if manifest["kind"] != "Secret":
            assert "wallwatch-kafka-authority" not in json.dumps(manifest), manifest["metadata"]["name"]
    readers = {
        name
        for name, service in compose["services"].items()
        for volume in service.get("volumes") or []
        if volume.get("source") == "kafka-authority"
    }
    assert readers == {"kafka-certificates"}


def test_both_give_the_broker_the_same_files(manifests: list[dict[str, Any]]) -> None:
    [configuration] = [m for m in manifests if m["kind"] == "ConfigMap" and m["metadata"]["name"] == "wallwatch-kafka"]
    for name, text in configuration["data"].items():
        assert text.strip() == (REPOSITORY / "docker" / "kafka" / name).read_text().strip(), name
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    assert "./docker/kafka:/etc/wallwatch/kafka:ro" in compose["services"]["kafka"]["volumes"]


def test_both_check_the_brokers_health_in_the_same_way(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    probe = pods(manifests)["kafka"][1]["readinessProbe"]["exec"]["command"]
    assert compose["services"]["kafka"]["healthcheck"]["test"] == ["CMD", *probe]


def test_no_listener_of_the_broker_is_without_tls_and_a_name() -> None:
    lines = (REPOSITORY / "docker" / "kafka" / "server.properties").read_text().splitlines()
    settings = dict(line.partition("=")[::2] for line in lines if line and not line.startswith("#"))
    protocols = dict(entry.split(":") for entry in settings["listener.security.protocol.map"].split(","))
    assert set(protocols.values()) == {"SASL_SSL"}
    listeners = dict(entry.split("://") for entry in settings["listeners"].split(","))
    assert set(listeners) == set(protocols)
    assert listeners["CONTROLLER"].startswith("localhost:")
    assert settings["allow.everyone.if.no.acl.found"] == "false"
    assert settings["super.users"] == f"User:{KafkaRole.admin.user}"
