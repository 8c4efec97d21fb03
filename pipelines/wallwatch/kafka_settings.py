"""How processes reach Kafka, and as whom: settings only; `kafka_clients` makes the clients."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
_OAUTH = ("kafka_oauth_token_url", "kafka_oauth_client_id", "kafka_oauth_client_secret_file")


class KafkaSettings(BaseSettings):
    """How processes reach Kafka, and as whom; environment variables with the prefix `WALLWATCH_`."""

    model_config = SettingsConfigDict(env_prefix="WALLWATCH_", extra="ignore", hide_input_in_errors=True, env_ignore_empty=True)

    kafka_bootstrap: str = Field(default="127.0.0.1:9092", description="Kafka brokers, host:port separated by commas")
    kafka_security_protocol: SecurityProtocol = Field(
        default="PLAINTEXT",
        description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; with SSL the broker's certificate is checked",
    )
    kafka_sasl_mechanism: SaslMechanism | None = Field(
        default=None, description="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER, with a SASL_ protocol"
    )
    kafka_sasl_username: str | None = Field(default=None, description="user at Kafka")
    kafka_sasl_password: SecretStr | None = Field(default=None, description="the user's password")
    kafka_sasl_password_file: Path | None = Field(default=None, description="file that holds the password instead")
    kafka_ca_file: Path | None = Field(default=None, description="PEM file of the authorities that sign the brokers' certificates")
    kafka_certificate_file: Path | None = Field(default=None, description="PEM file of this client's certificate, for mutual TLS")
    kafka_key_file: Path | None = Field(default=None, description="PEM file of the key of this client's certificate")
    kafka_key_password_file: Path | None = Field(default=None, description="file that holds the password of the key, if it has one")
    kafka_oauth_token_url: str | None = Field(default=None, description="where OAUTHBEARER gets tokens (client credentials)")
    kafka_oauth_client_id: str | None = Field(default=None, description="client id for OAUTHBEARER")
    kafka_oauth_client_secret_file: Path | None = Field(default=None, description="file that holds the client secret for OAUTHBEARER")
    kafka_oauth_scope: str | None = Field(default=None, description="scope for OAUTHBEARER")

    @property
    def kafka_asks_who(self) -> bool:
        """Whether this client says who it is, so that the broker can have rights for it."""
        return self.kafka_security_protocol.startswith("SASL") or self.kafka_certificate_file is not None

    @field_validator("kafka_bootstrap")
    @classmethod
    def _brokers(cls, value: str) -> str:
        brokers = [one.strip() for one in value.split(",") if one.strip()]
        for broker in brokers:
            host, _, port = broker.rpartition(":")
            if not host or not port.isdigit() or not 0 < int(port) < 65536:
                raise ValueError(f"'{broker}' is no broker: write host:port, several separated by commas")
        if not brokers:
            raise ValueError("name at least one broker, such as kafka1:9093,kafka2:9093")
        return ",".join(brokers)

    @model_validator(mode="after")
    def _kafka_security_fits(self) -> KafkaSettings:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


def _problems(settings: KafkaSettings) -> list[str]:
    """What does not fit together, in the order in which it should be mended."""
    protocol = settings.kafka_security_protocol
    tls_files = [name for name in ("kafka_ca_file", "kafka_certificate_file", "kafka_key_file") if getattr(settings, name) is not None]
    problems = []
    if tls_files and "SSL" not in protocol:
        problems.append(f"{tls_files[0]} has no effect with kafka_security_protocol={protocol}: set SSL or SASL_SSL")
    if (settings.kafka_certificate_file is None) != (settings.kafka_key_file is None):
        problems.append("mutual TLS needs both kafka_certificate_file and kafka_key_file")
    if "SASL" in protocol:
        problems += _sasl_problems(settings)
    else:
        named = ("kafka_sasl_mechanism", "kafka_sasl_username", "kafka_sasl_password", "kafka_sasl_password_file")
        problems += [
            f"{name} has no effect with kafka_security_protocol={protocol}: set SASL_SSL" for name in named if getattr(settings, name)
        ]
    if settings.kafka_sasl_mechanism != "OAUTHBEARER":
        problems += [f"{name} has an effect only with kafka_sasl_mechanism=OAUTHBEARER" for name in _OAUTH if getattr(settings, name)]
    for name, found in _files(settings).items():
        try:
            text = found.read_text()
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"{name}: {found} cannot be read: {error}")
            continue
        if name in ("kafka_ca_file", "kafka_certificate_file", "kafka_key_file") and "-----BEGIN " not in text:
            problems.append(f"{name}: {found} is no PEM file")
        if not text.strip():
            problems.append(f"{name}: {found} is empty")
    if settings.kafka_ca_file is not None and not problems:
        try:
            ssl.create_default_context(cafile=str(settings.kafka_ca_file))
        except (ssl.SSLError, OSError) as error:
            problems.append(f"kafka_ca_file: {settings.kafka_ca_file} has no usable certificate: {error}")
    return problems


def _sasl_problems(settings: KafkaSettings) -> list[str]:
    mechanism = settings.kafka_sasl_mechanism
    if mechanism is None:
        return [f"kafka_security_protocol={settings.kafka_security_protocol} needs kafka_sasl_mechanism"]
    if mechanism == "OAUTHBEARER":
        missing = [f"OAUTHBEARER needs {name}" for name in _OAUTH if getattr(settings, name) is None]
        return missing or _token_url_problems(settings.kafka_oauth_token_url or "")
    problems = []
    if not settings.kafka_sasl_username:
        problems.append(f"{mechanism} needs kafka_sasl_username")
    if settings.kafka_sasl_password is not None and settings.kafka_sasl_password_file is not None:
        problems.append("kafka_sasl_password and kafka_sasl_password_file are both set: remove one of them")
    if settings.kafka_sasl_password is None and settings.kafka_sasl_password_file is None:
        problems.append(f"{mechanism} needs kafka_sasl_password or kafka_sasl_password_file")
    return problems


def _token_url_problems(url: str) -> list[str]:
    """The client's secret goes to this address: encrypted, or not off this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # of a host in brackets that is no IPv6 address
        host = ""
    if not host or parts.scheme not in ("https", "http") or parts.username is not None:
        return ["kafka_oauth_token_url is no address of a token endpoint, such as https://login.example.net/token"]
    if parts.scheme == "https" or host == "localhost" or _is_loopback(host):
        return []
    return ["kafka_oauth_token_url must begin with https:// because the client secret goes there; http:// is for this machine only"]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _files(settings: KafkaSettings) -> dict[str, Path]:
    return {
        name: path
        for name in type(settings).model_fields
        if name.startswith("kafka_") and isinstance(path := getattr(settings, name), Path)
    }
