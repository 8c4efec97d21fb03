"""Creates the declared topics in Kafka."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import NewTopic

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import topics
from wallwatch.kafka_settings import KafkaSettings

TIMEOUT_S = 30.0


def create_topics(kafka: KafkaSettings, partitions: int | None = None, replication: int = 1) -> dict[str, str]:
    """Create the topics that are missing.

    Returns
    -------
    dict
        Topic -> `created` or `exists`.

    Raises
    ------
    KafkaException
        When the broker does not answer or refuses.
    """
    admin = kafka_clients.admin(kafka)
    wanted = [
        NewTopic(
            topic.name,
            num_partitions=min(partitions or topic.partitions, topic.partitions),
            replication_factor=replication,
            config={
                "retention.ms": str(topic.retention_hours * 3_600_000),
                "compression.type": topic.compression if topic.compression != "none" else "uncompressed",
            },
        )
        for topic in topics().values()
    ]
    outcomes = {}
    for name, future in admin.create_topics(wanted, request_timeout=TIMEOUT_S).items():
        try:
            future.result(TIMEOUT_S)
            outcomes[name] = "created"
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
            outcomes[name] = "exists"
    return outcomes
