"""How clients of Kafka are set up: every way to sign in, and clear errors for what does not fit together."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import ValidationError

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.settings import Settings
from wallwatch_backend.settings import Settings as BackendSettings


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    certificate = made.not_valid_before(now).not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    file = tmp_path_factory.mktemp("ca") / "ca.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return file


def settings(**values: Any) -> KafkaSettings:
    return KafkaSettings(**values)


def test_without_settings_one_broker_in_clear_text() -> None:
    assert kafka_clients.client_settings(settings(kafka_bootstrap="k1:9092")) == {"bootstrap.servers": "k1:9092"}


def test_several_brokers_are_a_list_to_the_client() -> None:
    assert settings(kafka_bootstrap=" k1:9093, k2:9093 ,").kafka_bootstrap == "k1:9093,k2:9093"


@pytest.mark.parametrize("brokers", ["", "k1", "k1:", ":9092", "k1:port", "k1:9092,k2", "k1:99999"])
def test_what_is_no_list_of_brokers_is_refused(brokers: str) -> None:
    with pytest.raises(ValidationError, match=r"host:port|at least one broker"):
        settings(kafka_bootstrap=brokers)


def test_scram_over_tls(ca: Path, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    chosen = settings(
        kafka_bootstrap="k1:9093",
        kafka_security_protocol="SASL_SSL",
        kafka_sasl_mechanism="SCRAM-SHA-512",
        kafka_sasl_username="wallwatch-ingest",
        kafka_sasl_password_file=password,
        kafka_ca_file=ca,
    )
    assert kafka_clients.client_settings(chosen) == {
        "bootstrap.servers": "k1:9093",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "wallwatch-ingest",
        "sasl.password": "secret",
    }


def test_mutual_tls(ca: Path) -> None:
    chosen = settings(kafka_security_protocol="SSL", kafka_ca_file=ca, kafka_certificate_file=ca, kafka_key_file=ca)
    found = kafka_clients.client_settings(chosen)
    assert (found["ssl.certificate.location"], found["ssl.key.location"]) == (str(ca), str(ca))


def test_tokens_of_an_identity_provider(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    chosen = settings(
        kafka_security_protocol="SASL_SSL",
        kafka_sasl_mechanism="OAUTHBEARER",
        kafka_oauth_token_url="https://id.example.net/token",
        kafka_oauth_client_id="wallwatch",
        kafka_oauth_client_secret_file=secret,
        kafka_oauth_scope="kafka",
    )
    found = kafka_clients.client_settings(chosen)
    assert found["sasl.oauthbearer.method"] == "oidc"
    assert (found["sasl.oauthbearer.client.secret"], found["sasl.oauthbearer.scope"]) == ("s3cret", "kafka")
    kafka_clients.producer(chosen)  # librdkafka takes these names


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"kafka_security_protocol": "SASL_SSL"}, "needs kafka_sasl_mechanism"),
        ({"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "PLAIN"}, "PLAIN needs kafka_sasl_username"),
        (
            {"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "SCRAM-SHA-512", "kafka_sasl_username": "u"},
            "needs kafka_sasl_password or kafka_sasl_password_file",
        ),
        ({"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "OAUTHBEARER"}, "needs kafka_oauth_token_url"),
        ({"kafka_sasl_username": "u"}, "has no effect with kafka_security_protocol=PLAINTEXT"),
        ({"kafka_ca_file": "/nowhere/ca.pem"}, "has no effect with kafka_security_protocol=PLAINTEXT"),
        ({"kafka_security_protocol": "SSL", "kafka_ca_file": "/nowhere/ca.pem"}, "cannot be read"),
        ({"kafka_security_protocol": "SSL", "kafka_certificate_file": "/x"}, "needs both"),
        ({"kafka_security_protocol": "TLS"}, "PLAINTEXT"),
    ],
)
def test_settings_that_do_not_fit_say_what_is_missing(values: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        settings(**values)


OAUTH = {"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "OAUTHBEARER", "kafka_oauth_client_id": "wallwatch"}


def oauth(tmp_path: Path, url: str) -> KafkaSettings:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    return settings(**OAUTH, kafka_oauth_client_secret_file=secret, kafka_oauth_token_url=url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://id.example.net/token", "must begin with https://"),
        ("http://127.0.0.1.example.net/token", "must begin with https://"),
        ("http://10.0.0.1/token", "must begin with https://"),
        ("http://localhost.example.net/", "must begin with https://"),
        ("id.example.net/token", "no address of a token endpoint"),
        ("https://", "no address of a token endpoint"),
        ("https://user:secret@id.example.net/token", "no address of a token endpoint"),
        ("http://[::1", "no address of a token endpoint"),
        ("ftp://id.example.net/token", "no address of a token endpoint"),
    ],
)
def test_a_secret_is_not_sent_in_clear_text(tmp_path: Path, url: str, why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        oauth(tmp_path, url)


@pytest.mark.parametrize("url", ["https://id.example.net/token", "http://127.0.0.1:8080/token", "http://[::1]/t", "http://localhost/t"])
def test_a_token_comes_encrypted_or_from_this_machine(tmp_path: Path, url: str) -> None:
    assert kafka_clients.client_settings(oauth(tmp_path, url))["sasl.oauthbearer.token.endpoint.url"] == url


def test_of_two_passwords_none_silently_wins(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("one")
    user = {"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "SCRAM-SHA-512", "kafka_sasl_username": "u"}
    with pytest.raises(ValidationError, match="kafka_sasl_password and kafka_sasl_password_file are both set"):
        settings(**user, kafka_sasl_password="two", kafka_sasl_password_file=file)


@pytest.mark.parametrize("content", ["no pem", "", "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n"])
def test_a_file_of_authorities_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ca.pem"
    file.write_text(content)
    with pytest.raises(ValidationError, match=r"is no PEM file|no usable certificate"):
        settings(kafka_security_protocol="SSL", kafka_ca_file=file)


def test_a_password_is_never_shown() -> None:
    chosen = settings(
        kafka_security_protocol="SASL_SSL", kafka_sasl_mechanism="PLAIN", kafka_sasl_username="u", kafka_sasl_password="hunter2hunter2"
    )
    assert "hunter2" not in repr(chosen) + str(chosen)


def test_an_error_does_not_show_the_secrets_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_KAFKA_SASL_PASSWORD", "hunter2hunter2")
    monkeypatch.setenv("WALLWATCH_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", "mysql://u:hunter2@host/db")
    for kind in (KafkaSettings, Settings, BackendSettings):
        with pytest.raises(ValidationError) as found:
            kind()
        assert "hunter2" not in str(found.value), kind


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KafkaSettings.model_fields:
        monkeypatch.setenv(f"WALLWATCH_{name.upper()}", "")
    for kind in (KafkaSettings, Settings, BackendSettings):
        assert kafka_clients.client_settings(kind()) == {"bootstrap.servers": "127.0.0.1:9092"}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"kafka_sasl_password": "p"}, "has no effect with kafka_security_protocol=PLAINTEXT"),
        ({"kafka_oauth_client_id": "c"}, "only with kafka_sasl_mechanism=OAUTHBEARER"),
    ],
)
def test_what_has_no_effect_is_refused(values: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        settings(**values)
