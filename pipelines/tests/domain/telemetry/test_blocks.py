"""Blocks are the samples that they stand for; the list of places has all of the registry."""

import copy
from typing import Any

import orjson
import pytest
import yaml

from wallwatch.domain.telemetry import blocks
from wallwatch.domain.telemetry.blocks import BlockReader, layouts, parse_layouts, single
from wallwatch.domain.telemetry.decode import Decoded, decode_message
from wallwatch.domain.telemetry.registry import RegistryError, measurements
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.blocks import in_blocks
from wallwatch_testing.ingest_batches import Record

LATEST_NS = 2**63 - 1
EXAMPLES = REPOSITORY / "collectors" / "internal" / "blocks" / "testdata"
"""Samples in both forms, as the collector writes them: its own test compares them."""


def examples(name: str) -> list[bytes]:
    return (EXAMPLES / name).read_bytes().splitlines()


def read(value: bytes, reader: BlockReader | None = None) -> list[tuple[str, Decoded]]:
    name, good, bad = (reader or BlockReader()).read(value, LATEST_NS)
    assert bad == []
    return [(name, one) for one in good]


def test_what_a_collector_writes_in_blocks_is_what_it_would_have_written_in_single_messages() -> None:
    singles = [decode_message(raw, LATEST_NS) for raw in examples("singles.jsonl")]
    found = [one for raw in examples("blocks.jsonl") for one in read(raw)]
    assert found == [(one.measurement, Decoded(one.tags, one.at_ns, dict(one.fields))) for one in singles]
    assert [list(one.fields) for _, one in found] == [list(one.fields) for one in singles]
    assert [orjson.loads(single(name, *one)) for name, one in found] == [
        {**message, "tags": {tag: text for tag, text in message["tags"].items() if tag != "telemetry_key"}}
        for message in map(orjson.loads, examples("singles.jsonl"))
    ]


def test_the_writer_of_the_tests_writes_what_the_collector_writes() -> None:
    written = in_blocks(Record(orjson.loads(raw)["name"], raw, b"host01") for raw in examples("singles.jsonl"))
    assert [orjson.loads(one.content or b"") for one in written] == [orjson.loads(raw) for raw in examples("blocks.jsonl")]


def test_a_reader_reads_a_host_again_and_again_and_other_measurements_not_at_all() -> None:
    reader = BlockReader(["rnic"])
    rnic, mask, datapath = examples("blocks.jsonl")
    first = read(rnic, reader)
    assert (len(first), read(rnic + b"\n", reader), read(mask, reader), read(datapath, reader)) == (2, first, [], [])
    assert read(rnic, reader)[0][1].tags is read(rnic, reader)[0][1].tags


def test_a_reader_forgets_rather_than_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_REMEMBERED", 20)
    reader = BlockReader()
    raw = examples("blocks.jsonl")[0]
    for number in range(100):
        assert len(read(raw.replace(b"host01", b"host%03d" % number), reader)) == 2
        assert len(reader._envelopes) <= 20


def _with(change: Any) -> Any:
    raw = yaml.safe_load((REPOSITORY / "pipelines/wallwatch/domain/telemetry/blocks.yaml").read_text())
    changed = copy.deepcopy(raw)
    change(changed)
    return changed


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda raw: raw["rnic"]["fields"].remove("link_downed"), "append the field link_downed to the list of rnic"),
        (lambda raw: raw["rnic_vf"]["tags"].remove("vf"), "append the tag vf to the list of rnic_vf"),
        (lambda raw: raw["rnic"]["fields"].append("link_downed"), "rnic has a field twice"),
        (lambda raw: raw.update(nonsense={"tags": [], "fields": []}), "'nonsense' is no measurement"),
    ],
)
def test_a_field_without_a_place_is_an_error_that_says_what_to_do(change: Any, problem: str) -> None:
    with pytest.raises(RegistryError, match=problem):
        parse_layouts(_with(change))


def test_a_field_that_left_the_registry_keeps_its_place() -> None:
    assert parse_layouts(_with(lambda raw: raw["rnic"]["fields"].append("of_the_past")))["rnic"].fields[-1] == "of_the_past"


def test_what_a_host_sends_all_the_time_is_sent_in_blocks() -> None:
    assert set(layouts()) == {"rnic", "rnic_offload", "rnic_mask", "rnic_vf", "ovs_datapath"}
    assert all(not any(field.type == "bool" for field in measurements()[name].fields.values()) for name in layouts())
