"""Kafka's messages as a product: schemas that hold for real messages, and that change only in ways that break no reader."""

import copy
import doctest
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cloudevents.kafka import KafkaMessage, from_binary

import message_compatibility
from message_compatibility import breaks
from wallwatch.domain.telemetry.envelope import headers_of
from wallwatch.domain.telemetry.registry import topics
from wallwatch.jobs.dead_letter import Rejected
from wallwatch_backend.message_schemas import ASYNCAPI, asyncapi, schema_file, schema_of
from wallwatch_local.paths import REPOSITORY

PUBLISHED = Path(__file__).parent / "published_messages"
"""The schema of each version as it was published. A file here is added with a new version, and never changed."""
TOPICS = topics()


@pytest.mark.parametrize("name", TOPICS)
def test_a_schema_breaks_no_reader_of_its_version(name: str) -> None:
    file = PUBLISHED / schema_file(TOPICS[name])
    assert file.exists(), f"a new version is published with its schema: copy docs/messages/{file.name} to {PUBLISHED}"
    found = breaks(json.loads(file.read_text()), schema_of(TOPICS[name]))
    assert found == [], "raise `message_version` of the topic in topics.yaml, and publish the new schema"


def _places(schema: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The places of blocks, by measurement and list."""
    layouts = schema["$defs"].items()
    return {(name, kind): layout["properties"][kind]["prefixItems"] for name, layout in layouts for kind in ("tags", "fields")}


def test_places_in_blocks_are_as_published_and_new_ones_follow() -> None:
    """Readers and collectors of other versions find a value by its place alone."""
    topic = TOPICS["wallwatch.blocks"]
    now = _places(schema_of(topic))
    published = _places(json.loads((PUBLISHED / schema_file(topic)).read_text()))
    assert len(published) == 10
    for where, before in published.items():
        assert [one["title"] for one in now[where]][: len(before)] == [one["title"] for one in before], where
        changed = [one["title"] for one, new in zip(before, now[where], strict=False) if new.get("type", one["type"]) != one["type"]]
        assert changed == [], where


def test_a_block_is_as_its_schema_says() -> None:
    block: dict[str, Any] = {
        "name": "rnic",
        "tags": {"host": "host01", "rack": "r1", "telemetry_key": "wwt1_x"},
        "fields": "0-1",
        "more": ["of_a_later_version"],
        "rows": [[1_790_000_000_000_000_000, ["0000:3b:00.0", None, "eth0"], [7, 8.5, "x"]]],
    }
    schema = schema_of(TOPICS["wallwatch.blocks"])
    jsonschema.validate(block, schema)
    block["rows"][0][2][0] = None
    with pytest.raises(jsonschema.ValidationError, match="None is not of type"):
        jsonschema.validate(block, schema)


@pytest.mark.parametrize("name", TOPICS)
def test_a_schema_is_one_and_has_its_version_in_its_id(name: str) -> None:
    schema = schema_of(TOPICS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:wallwatch:message:{name}:{TOPICS[name].message_version}"


def _changed(name: str, change: Any) -> list[str]:
    old = schema_of(TOPICS[name])
    new = copy.deepcopy(old)
    change(new)
    return breaks(old, new)


@pytest.mark.parametrize(
    ("name", "change", "found"),
    [
        ("wallwatch.rnic", lambda s: s["properties"]["fields"]["properties"].pop("link_downed"), ["message.fields.link_downed: is gone"]),
        ("wallwatch.rnic", lambda s: s["properties"]["tags"]["required"].remove("pci"), ["message.tags.pci: was required"]),
        (
            "wallwatch.rnic",
            lambda s: s["properties"]["fields"]["properties"]["link_downed"].update(type="string"),
            ["message.fields.link_downed: the type string is new"],
        ),
        ("wallwatch.findings", lambda s: s["required"].remove("severity"), ["message.severity: was required"]),
        ("wallwatch.forecasts", lambda s: s["$defs"]["PublishedWall"]["properties"].pop("chance"), ["message.walls.*.chance: is gone"]),
        ("wallwatch.isolation", lambda s: s["$defs"]["MinutePart"]["properties"].pop("kept_s"), ["message.vfs[].kept_s: is gone"]),
        ("wallwatch.findings", lambda s: s["properties"].update(new={"type": "string"}), []),
        ("wallwatch.rnic", lambda s: s["properties"]["fields"]["properties"].update(new={"type": "integer"}), []),
    ],
)
def test_a_change_that_breaks_readers_is_found_and_another_is_not(name: str, change: Any, found: list[str]) -> None:
    assert _changed(name, change) == found


def test_the_examples_of_the_rule_hold() -> None:
    assert doctest.testmod(message_compatibility).failed == 0


def test_a_dead_letter_is_as_its_schema_says() -> None:
    rejected = Rejected("wallwatch.rnic", 3, 17, b"host01", b"{", "not_json", "line 1")
    jsonschema.validate(json.loads(rejected.as_json(datetime.now(UTC))), schema_of(TOPICS["wallwatch.dead_letter"]))


def test_a_telemetry_message_is_as_its_schema_says_and_one_without_its_host_is_not() -> None:
    message: dict[str, Any] = {
        "name": "rnic",
        "timestamp": 1_790_000_000_000_000_000,
        "tags": {"host": "host01", "rack": "r1", "pci": "0000:3b:00.0", "telemetry_key": "wwt1_x"},
        "fields": {"port_xmit_data": 7, "of_a_later_version": 1},
    }
    schema = schema_of(TOPICS["wallwatch.rnic"])
    jsonschema.validate(message, schema)
    del message["tags"]["host"]
    with pytest.raises(jsonschema.ValidationError, match="'host' is a required property"):
        jsonschema.validate(message, schema)


@pytest.mark.parametrize("name", TOPICS)
def test_the_headers_of_a_message_are_those_of_a_cloudevent_and_of_the_document(name: str) -> None:
    headers = dict(headers_of(name, "host01", b'{"a": 1}'))
    event = from_binary(KafkaMessage(headers=headers, key=b"host01", value=b'{"a": 1}'))
    assert (event["type"], event["subject"], event["messageversion"]) == (name, "host01", str(TOPICS[name].message_version))
    assert event["dataschema"] == schema_of(TOPICS[name])["$id"]
    declared = asyncapi()["components"]["messages"][name]["headers"]
    jsonschema.validate({key: value.decode() for key, value in headers.items()}, declared)
    assert set(declared["properties"]) == set(headers)


def test_another_message_has_another_id_and_a_repeated_one_the_same() -> None:
    ids = [
        dict(headers_of("wallwatch.findings", key, value))["ce_id"] for key, value in (("a", b"1"), ("a", b"2"), ("b", b"1"), ("a", b"1"))
    ]
    assert ids[3] == ids[0]
    assert len(set(ids)) == 3


def test_the_asyncapi_document_has_every_topic_and_refers_to_files_that_are_there() -> None:
    document = asyncapi()
    assert set(document["channels"]) == set(TOPICS)
    assert document["asyncapi"] == "3.0.0"
    for name, topic in TOPICS.items():
        reference = document["components"]["messages"][name]["payload"]["schema"]["$ref"]
        assert json.loads((REPOSITORY / "docs" / "messages" / reference).read_text())["$id"].endswith(f":{topic.message_version}")
        assert document["channels"][name]["bindings"]["kafka"]["partitions"] == topic.partitions
    assert json.loads((REPOSITORY / "docs" / "messages" / ASYNCAPI).read_text()) == document


def test_each_reference_inside_the_asyncapi_document_leads_somewhere() -> None:
    document = asyncapi()
    references = re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))
    assert len(references) >= 2 * len(TOPICS)
    for reference in references:
        found: Any = document
        for step in reference.split("/"):
            found = found[step]
