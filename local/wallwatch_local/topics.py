"""Makes the topics of topics.yaml, the one place that declares them, on a broker."""

from importlib import resources
from typing import Any, TypedDict, cast

import yaml
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from wallwatch_local.errors import LocalStackError

MILLISECONDS_PER_HOUR = 3_600_000


class TopicSettings(TypedDict):
    """One topic as Kafka wants it."""

    partitions: int
    retention_hours: int
    compression: str


def declared_topics() -> dict[str, TopicSettings]:
    """Name and settings of every topic, with the defaults filled in."""
    text = resources.files("wallwatch.domain.telemetry").joinpath("topics.yaml").read_text()
    content = cast(dict[str, dict[str, Any]], yaml.safe_load(text))
    topics = {}
    for name, own in content["topics"].items():
        merged = {**content["defaults"], **(own or {})}
        topics[name] = TopicSettings(
            partitions=int(merged["partitions"]), retention_hours=int(merged["retention_hours"]), compression=str(merged["compression"])
        )
    return topics


def create_topics(bootstrap: str, timeout_s: float = 30.0, partitions: int | None = None) -> list[str]:
    """Make every declared topic that the broker lacks and return their names; existing topics are left as they are.

    Parameters
    ----------
    partitions
        Instead of the declared count (tests need fewer).

    Raises
    ------
    LocalStackError
        When the broker refuses a topic or can't be reached.
    """
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    wanted = [
        NewTopic(
            name,
            num_partitions=partitions or settings["partitions"],
            replication_factor=1,
            config={"retention.ms": str(settings["retention_hours"] * MILLISECONDS_PER_HOUR), "compression.type": settings["compression"]},
        )
        for name, settings in declared_topics().items()
    ]
    made = []
    for name, future in client.create_topics(wanted, operation_timeout=timeout_s, request_timeout=timeout_s).items():
        try:
            future.result(timeout_s)
            made.append(name)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise LocalStackError(f"Kafka at {bootstrap} did not make the topic {name}: {error}") from error
    return made
