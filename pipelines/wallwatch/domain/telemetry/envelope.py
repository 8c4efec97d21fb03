"""Headers of the messages that Wallwatch's processes write to Kafka: CloudEvents 1.0, in the binary mode of its Kafka binding.

They name the schema of a message and its version, so that a reader can choose without decoding the body. Collectors write
telemetry without them: Telegraf's output has no headers but its own.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from wallwatch.domain.telemetry.registry import topics

Headers = list[tuple[str, bytes]]

SOURCE = "urn:wallwatch"


def headers_of(topic: str, key: str, value: bytes) -> Headers:
    """Return the headers of one message. Its id comes from the message itself: written again after a failure, it has the same one.

    >>> dict(headers_of("wallwatch.findings", "host01", b"{}"))["ce_dataschema"]
    b'urn:wallwatch:message:wallwatch.findings:1'
    >>> headers_of("wallwatch.findings", "host01", b"{}") == headers_of("wallwatch.findings", "host01", b"{}")
    True
    """
    identity = blake2b(value, digest_size=16, key=key.encode()[:64]).hexdigest()
    return [*_fixed(topic), ("ce_id", identity.encode()), ("ce_subject", key.encode())]


@cache
def _fixed(topic: str) -> tuple[tuple[str, bytes], ...]:
    """What all messages of a topic share. A topic of another name, as tests have, is of the first version."""
    known = topics().get(topic)
    version = known.message_version if known is not None else 1
    return (
        ("ce_specversion", b"1.0"),
        ("ce_type", topic.encode()),
        ("ce_source", SOURCE.encode()),
        ("ce_dataschema", schema_id(topic, version).encode()),
        ("ce_messageversion", str(version).encode()),
        ("content-type", b"application/json"),
    )


def schema_id(topic: str, version: int) -> str:
    """`$id` of the JSON Schema of a topic's messages.

    >>> schema_id("wallwatch.findings", 1)
    'urn:wallwatch:message:wallwatch.findings:1'
    """
    return f"urn:wallwatch:message:{topic}:{version}"
