"""`wallwatch status`: show whether each component is healthy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import httpx
import psycopg
import typer
from confluent_kafka import Consumer, KafkaException, TopicPartition
from rich.console import Console
from rich.table import Table

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import topics
from wallwatch.settings import Settings

TIMEOUT_S = 5.0
STALE_S = 60
ALARM_MIN = 15
"""How long `wallwatch status` is unhealthy after a message under a wrong name."""
VF_TRAFFIC = "wallwatch.vf_traffic"

CheckResult = tuple[str, bool, str]
"""Name, healthy, and one sentence."""


def check_api(settings: Settings) -> CheckResult:
    """Check that the API is ready."""
    try:
        answer = httpx.get(f"{settings.api_url}/-/ready", timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        return "api", False, f"{settings.api_url} does not answer: {error}"
    return "api", answer.status_code == 200, f"{settings.api_url} answers {answer.status_code}"


@contextmanager
def _group_client(settings: Settings, group: str) -> Iterator[Consumer]:
    """A client that reads a group's offsets without joining it.

    Not an AdminClient: it answers on a library thread, where a garbage collection by Python can crash the process.
    """
    consumer = kafka_clients.consumer(settings, {"group.id": group, "enable.auto.commit": False, "log_level": 0})
    try:
        yield consumer
    finally:
        consumer.close()


def check_kafka(settings: Settings) -> CheckResult:
    """Check that the broker answers and has all topics."""
    try:
        with _group_client(settings, "wallwatch-status") as consumer:
            known = consumer.list_topics(timeout=TIMEOUT_S).topics
    except KafkaException as error:
        return "kafka", False, f"{settings.kafka_bootstrap} does not answer: {error}"
    missing = sorted(set(topics()) - set(known))
    if missing:
        return "kafka", False, f"topics are missing: {', '.join(missing)}; run `wallwatch topics create`"
    return "kafka", True, f"{settings.kafka_bootstrap} has all {len(topics())} topics"


def lag_of(settings: Settings, group: str) -> int | None:
    """Messages that a consumer group has not committed yet, over all partitions; None when it has never committed."""
    with _group_client(settings, group) as consumer:
        known = consumer.list_topics(timeout=TIMEOUT_S).topics
        partitions = [TopicPartition(topic, number) for topic in topics() if topic in known for number in known[topic].partitions]
        committed = [one for one in consumer.committed(partitions, timeout=TIMEOUT_S) if one.offset >= 0]
        ends = [consumer.get_watermark_offsets(one, timeout=TIMEOUT_S)[1] for one in committed]
    return sum(max(end - one.offset, 0) for end, one in zip(ends, committed, strict=True)) if committed else None


def has_messages(settings: Settings, topic: str) -> bool:
    """Whether anything was ever written to a topic."""
    with _group_client(settings, "wallwatch-status") as consumer:
        numbers = consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions
        return any(consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=TIMEOUT_S)[1] > 0 for number in numbers)


def check_isolation(settings: Settings) -> CheckResult:
    """As `check_group`; it commits two minutes late on purpose, and where collectors send no traffic of VFs, it has nothing to read."""
    try:
        if not has_messages(settings, VF_TRAFFIC):
            return "isolation", True, "no collector sends the traffic of VFs"
    except KafkaException as error:
        return "isolation", False, f"cannot read its topic: {error}"
    name, healthy, text = check_group(settings, "isolation", settings.isolation_group)
    return name, healthy, f"{text}, those of the last two minutes on purpose" if healthy else text


def check_group(settings: Settings, name: str, group: str) -> CheckResult:
    """Check how far a stream job lags behind."""
    try:
        lag = lag_of(settings, group)
    except KafkaException as error:
        return name, False, f"cannot read its offsets: {error}"
    if lag is None:
        return name, False, f"the consumer group {group} has read nothing yet; is `wallwatch job {name}` running?"
    return name, True, f"{lag} messages not yet processed"


def check_database(settings: Settings) -> CheckResult:
    """Check that the store answers, and how old its newest sample is."""
    query = """
        SELECT count(*), extract(epoch FROM now() - max(seen_at))::float8, (SELECT coalesce(sum(count), 0) FROM dead_letter_count)::bigint
        FROM rnic_state
    """
    try:
        with psycopg.connect(settings.libpq_url, connect_timeout=int(TIMEOUT_S)) as connection:
            row = connection.execute(query).fetchone()
    except psycopg.errors.UndefinedTable:
        return "database", False, "no tables; run `wallwatch db upgrade`"
    except psycopg.Error as error:
        return "database", False, f"does not answer: {str(error).strip()}"
    count, age, dead = row if row is not None else (0, None, 0)
    if not count:
        return "database", False, "no RNIC has been seen yet"
    text = f"{count} RNICs, newest sample {age:.0f} s old, {dead} messages refused so far"
    return "database", age < STALE_S, text


def check_senders(settings: Settings) -> CheckResult | None:
    """Check that no message came under a wrong name lately, and whether names are checked at all; None if the store cannot say."""
    query = """
        SELECT coalesce(sum(count), 0)::bigint, extract(epoch FROM now() - max(last_at))::float8 / 60,
          (array_agg(last_detail ORDER BY last_at DESC))[1]
        FROM dead_letter_count WHERE reason = 'wrong_principal'
    """
    try:
        with psycopg.connect(settings.libpq_url, connect_timeout=int(TIMEOUT_S)) as connection:
            row = connection.execute(query).fetchone()
    except psycopg.Error:
        return None  # `check_database` says why
    count, minutes, detail = row if row is not None else (0, None, None)
    if count and minutes is not None and minutes < ALARM_MIN:
        return "senders", False, f"{count} messages under a wrong name so far, the last one {minutes:.0f} min ago: {detail}"
    if settings.telemetry_secret_file is None:
        return "senders", True, "names of hosts are not checked (WALLWATCH_TELEMETRY_SECRET_FILE is not set here)"
    return "senders", True, f"every host proves its name; {count} messages under a wrong name so far"


def status(as_json: Annotated[bool, typer.Option("--json", help="print a JSON list")] = False) -> None:
    """Show whether the API, Kafka, the stream jobs and the database are healthy; exit code 1 when one is not."""
    settings = Settings()
    parts = [check_api(settings), check_kafka(settings)]
    if parts[-1][1]:
        parts += [check_group(settings, "ingest", settings.ingest_group), check_group(settings, "classify", settings.classify_group)]
        parts.append(check_isolation(settings))
    parts.append(check_database(settings))
    senders = check_senders(settings)
    if senders is not None:
        parts.append(senders)
    if as_json:
        typer.echo(json.dumps([{"component": name, "healthy": healthy, "text": text} for name, healthy, text in parts], indent=2))
    else:
        table = Table("component", "state", "")
        for name, healthy, text in parts:
            table.add_row(name, "[green]healthy[/]" if healthy else "[red]unhealthy[/]", text)
        Console().print(table)
    if not all(healthy for _, healthy, _ in parts):
        raise typer.Exit(1)
