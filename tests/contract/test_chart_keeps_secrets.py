"""An upgrade of the chart keeps the passwords and certificates of the cluster, and makes a new certificate when it must."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from cryptography import x509

from wallwatch_testing import kubernetes_api

Secrets = dict[str, dict[str, str]]
CERTIFICATE = "wallwatch-kafka-tls"


@pytest.fixture(scope="module")
def upgraded(render_chart: Any) -> Any:
    """Renders the chart in a cluster that has Secrets, as `helm upgrade` does, and returns those of the new release."""

    def run(present: Secrets, *arguments: str) -> Secrets:
        with kubernetes_api.serving(present) as address:
            done = render_chart("--dry-run=server", "--disable-openapi-validation", "--kube-apiserver", address, *arguments)
        assert done.returncode == 0, done.stderr
        manifests = [m for m in yaml.safe_load_all(done.stdout) if m and m["kind"] == "Secret"]
        return {m["metadata"]["name"]: m["stringData"] for m in manifests}

    return run


@pytest.fixture(scope="module")
def first(upgraded: Any) -> Secrets:
    found: Secrets = upgraded({})
    assert CERTIFICATE in found
    return found


def test_an_upgrade_changes_no_secret(upgraded: Any, first: Secrets) -> None:
    assert upgraded(first) == first


def test_another_installation_gets_other_secrets(upgraded: Any, first: Secrets) -> None:
    other = upgraded({})
    assert set(other) == set(first)
    for name, data in first.items():
        assert other[name] != data, name


@pytest.mark.parametrize("name", ["wallwatch.example.net", "192.0.2.7"])
def test_another_name_of_the_broker_makes_a_new_certificate_of_the_same_authority(upgraded: Any, first: Secrets, name: str) -> None:
    changed = upgraded(first, f"--set=kafka.advertisedHost={name}")
    assert {secret for secret in first if changed[secret] != first[secret]} == {CERTIFICATE}
    certificate = x509.load_pem_x509_certificate(changed[CERTIFICATE]["tls.crt"].encode())
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(first["wallwatch-kafka-authority"]["tls.crt"].encode()))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    present = [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
    assert {name, "wallwatch-kafka", "localhost"} <= set(present)
    assert changed[CERTIFICATE]["ca.crt"] == first[CERTIFICATE]["ca.crt"]


def test_a_certificate_in_its_last_third_is_renewed(upgraded: Any, first: Secrets) -> None:
    made = x509.load_pem_x509_certificate(first[CERTIFICATE]["tls.crt"].encode())
    begins = datetime.fromtimestamp(int(first[CERTIFICATE]["renew-after"]), UTC)
    assert made.not_valid_before_utc < begins < made.not_valid_after_utc
    late = first | {CERTIFICATE: first[CERTIFICATE] | {"renew-after": str(int(time.time()) - 60)}}
    changed = upgraded(late)
    assert {secret for secret in first if changed[secret] != first[secret]} == {CERTIFICATE}
    assert changed[CERTIFICATE]["tls.key"] != first[CERTIFICATE]["tls.key"]
    assert changed[CERTIFICATE]["ca.crt"] == first[CERTIFICATE]["ca.crt"]


def test_a_cluster_of_an_unsecured_release_keeps_its_other_passwords(upgraded: Any, first: Secrets) -> None:
    former = {name: data for name, data in first.items() if "-kafka-" not in name}
    assert former
    upgraded_secrets = upgraded(former)
    assert {name: upgraded_secrets[name] for name in former} == former
    assert set(upgraded_secrets) == set(first)


def test_secrets_of_ones_own_are_not_made(upgraded: Any, first: Secrets) -> None:
    made = upgraded({}, "--set=kafka.secrets.ingest=mine,kafka.tls.existingSecret=broker")
    assert set(first) - set(made) == {"wallwatch-kafka-ingest", CERTIFICATE, "wallwatch-kafka-authority"}
