"""Clients of Kafka come from `wallwatch.kafka_clients`: whoever makes one of their own speaks clear text where TLS and a user are set."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = ("pipelines", "backend", "local", "tests")
FACTORY = "pipelines/wallwatch/kafka_clients.py"
LIBRARY = "confluent_kafka"
MAKERS = ("Producer", "Consumer", "AdminClient")
"""What the names of classes end with that connect: `SerializingProducer` and `AIOConsumer` are among them."""


def own_clients(source: str) -> Iterator[str]:
    """The calls that make a client of the library, or give the streams library an address instead of the settings."""
    tree = ast.parse(source)
    names: dict[str, str] = {}  # as it is called here -> as the library calls it
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == LIBRARY:
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and names.get(called.id, "").endswith(MAKERS):
            yield f"line {node.lineno}: {called.id}(...)"
        elif isinstance(called, ast.Attribute) and called.attr.endswith(MAKERS) and ast.unparse(called).startswith(LIBRARY):
            yield f"line {node.lineno}: {ast.unparse(called)}(...)"
        for keyword in node.keywords:
            if keyword.arg == "broker_address" and not isinstance(keyword.value, ast.Call):
                yield f"line {node.lineno}: broker_address without the settings"


@pytest.mark.parametrize(
    "source",
    [
        "from confluent_kafka import Producer\nProducer({})",
        "def f():\n    from confluent_kafka.admin import AdminClient as A\n    return A({})",
        "import confluent_kafka\nconfluent_kafka.Consumer(settings)",
        "import confluent_kafka.admin\nconfluent_kafka.admin.AdminClient(settings)",
        "from confluent_kafka import SerializingProducer\nSerializingProducer({})",
        "Application(broker_address=settings.kafka_bootstrap)",
    ],
)
def test_a_client_of_ones_own_is_found(source: str) -> None:
    assert len(list(own_clients(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from confluent_kafka import Producer\ndef f(producer: Producer) -> None: ...",
        "class Producer: ...\nProducer()",
        "from wallwatch import kafka_clients\nkafka_clients.producer(settings)",
        "Application(broker_address=connection(settings))",
    ],
)
def test_a_type_and_the_factory_are_no_client_of_ones_own(source: str) -> None:
    assert list(own_clients(source)) == []


def test_nobody_makes_a_client_of_their_own() -> None:
    found = {}
    read = 0
    for folder in SOURCES:
        for file in (REPOSITORY / folder).rglob("*.py"):
            if "node_modules" in file.parts or (name := str(file.relative_to(REPOSITORY))) == FACTORY:
                continue
            read += 1
            if calls := list(own_clients(file.read_text(encoding="utf-8"))):
                found[name] = calls
    assert read > 500, "the sources are elsewhere"
    assert found == {}, "use wallwatch.kafka_clients with KafkaSettings"
    assert list(own_clients((REPOSITORY / FACTORY).read_text(encoding="utf-8"))), "the factory makes them in another way than is looked for"
