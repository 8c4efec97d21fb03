"""The only place where clients of Kafka are made: the same brokers, TLS and SASL for every process.

The settings are `KafkaSettings`; Telegraf on hosts takes the same environment variables.
"""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from wallwatch.kafka_settings import KafkaSettings


def client_settings(settings: KafkaSettings) -> dict[str, Any]:
    """Settings of a client of librdkafka: brokers, TLS and SASL. It holds secrets: do not log it."""
    found: dict[str, Any] = {"bootstrap.servers": settings.kafka_bootstrap}
    if settings.kafka_security_protocol == "PLAINTEXT":
        return found
    found["security.protocol"] = settings.kafka_security_protocol
    for name, path in {
        "ssl.ca.location": settings.kafka_ca_file,
        "ssl.certificate.location": settings.kafka_certificate_file,
        "ssl.key.location": settings.kafka_key_file,
    }.items():
        if path is not None:
            found[name] = str(path)
    if settings.kafka_key_password_file is not None:
        found["ssl.key.password"] = settings.kafka_key_password_file.read_text().strip()
    if settings.kafka_sasl_mechanism == "OAUTHBEARER":
        return found | _oauth(settings)
    if settings.kafka_sasl_mechanism is not None:
        found |= {
            "sasl.mechanism": settings.kafka_sasl_mechanism,
            "sasl.username": settings.kafka_sasl_username,
            "sasl.password": _password(settings),
        }
    return found


def _password(settings: KafkaSettings) -> str:
    if settings.kafka_sasl_password_file is not None:
        return settings.kafka_sasl_password_file.read_text().strip()
    return settings.kafka_sasl_password.get_secret_value() if settings.kafka_sasl_password else ""


def _oauth(settings: KafkaSettings) -> dict[str, Any]:
    assert settings.kafka_oauth_client_secret_file is not None  # noqa: S101 - checked when the settings were read
    found = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": settings.kafka_oauth_token_url,
        "sasl.oauthbearer.client.id": settings.kafka_oauth_client_id,
        "sasl.oauthbearer.client.secret": settings.kafka_oauth_client_secret_file.read_text().strip(),
    }
    return found | ({"sasl.oauthbearer.scope": settings.kafka_oauth_scope} if settings.kafka_oauth_scope else {})


def producer(settings: KafkaSettings, more: dict[str, Any] | None = None) -> Producer:
    """A producer; `more` are settings of librdkafka."""
    return Producer(client_settings(settings) | (more or {}))


def consumer(settings: KafkaSettings, more: dict[str, Any]) -> Consumer:
    """A consumer; `more` are settings of librdkafka, the group among them."""
    return Consumer(client_settings(settings) | more)


def admin(settings: KafkaSettings, more: dict[str, Any] | None = None) -> AdminClient:
    """A client that creates topics, users and rights."""
    return AdminClient(client_settings(settings) | (more or {}))
