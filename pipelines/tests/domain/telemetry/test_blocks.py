"""Blocks are the samples that they stand for; the list of places has all of the registry."""

import copy
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest
import yaml

from wallwatch.domain.telemetry.block_layouts import layouts, parse_layouts
from wallwatch.domain.telemetry.blocks import MOST_REMEMBERED_BYTES, BlockReader, single
from wallwatch.domain.telemetry.decode import Decoded, Refused, Sender, decode_message
from wallwatch.domain.telemetry.registry import RegistryError, measurements
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.blocks import in_blocks
from wallwatch_testing.ingest_batches import Record

LATEST_NS = 2**63 - 1
NOW_NS = 1_790_000_000_000_000_000
EXAMPLES = REPOSITORY / "collectors" / "internal" / "blocks" / "testdata"
"""Samples in both forms, as the collector writes them: its own test compares them."""


def examples(name: str) -> list[bytes]:
    return (EXAMPLES / name).read_bytes().splitlines()


def read(value: bytes, reader: BlockReader | None = None) -> list[tuple[str, Decoded]]:
    name, good, bad, _ = (reader or BlockReader()).read(value, LATEST_NS)
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


def test_a_reader_forgets_rather_than_grow() -> None:
    reader = BlockReader(most_bytes=30_000)
    raw, known = examples("blocks.jsonl")[0], []
    for number in range(100):
        assert len(read(raw.replace(b"host01", b"host%03d" % number), reader)) == 2
        known.append(len(reader._memory.known))
    assert 2 < max(known) <= 20


def test_two_measurements_of_40_000_rnics_stay_remembered() -> None:
    reader, used = BlockReader(), []
    one = orjson.loads(examples("blocks.jsonl")[0])
    for host, rows in (("h1", []), ("h2", []), ("h2", one["rows"])):
        reader.read(orjson.dumps({**one, "tags": {**one["tags"], "host": host}, "rows": rows}), LATEST_NS)
        used.append(reader._memory.used)
    envelope, row = used[1] - used[0], (used[2] - used[1]) // len(one["rows"])
    assert 80_000 * row + 30_000 * envelope < MOST_REMEMBERED_BYTES


def measured(work: Callable[[int], object], count: int) -> int:
    """Bytes that are still held after `work` was called so often."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            work(number)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


ODD_TAGS = [
    pytest.param(lambda i: {"site": "x" * 10_000 + str(i)}, [], id="long tags of a block"),
    pytest.param(lambda i: {f"t{n}": "" for n in range(200)} | {"site": str(i)}, [], id="many tags of a block"),
    pytest.param(lambda i: {}, ["y" * 5_000], id="long tags of a row"),
    pytest.param(lambda i: {}, [""] * 500, id="many tags of a row"),
    pytest.param(lambda i: {}, ["\U0001f600" * 400], id="wide letters"),
]


@pytest.mark.parametrize(("of_all", "more"), ODD_TAGS)
def test_what_is_remembered_of_odd_tags_is_bounded(of_all: Any, more: list[str]) -> None:
    reader = BlockReader(most_bytes=200_000)

    def send(number: int) -> None:
        rows = [[NOW_NS, ["0000:3b:00.0", "m", *[None] * 20, f"{number}-{i}", *more], [1]] for i in range(10)]
        tags = {"host": "h1", **of_all(number)}
        raw = orjson.dumps({"name": "rnic", "tags": tags, "fields": "0", "more": [], "rows": rows})
        assert len(read(raw, reader)) == 10

    send(-1)
    assert measured(send, 20) < 400_000


def test_what_does_not_prove_its_name_is_not_remembered() -> None:
    reader = BlockReader()
    for number in range(10):
        raw = examples("blocks.jsonl")[0].replace(b"host01", b"host%03d" % number)
        with pytest.raises(Refused, match="record's key"):
            reader.read(raw, LATEST_NS, Sender(b"other", lambda host, key: True))
    assert (reader._memory.known, reader._memory.used) == ({}, 0)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


ROW = b'[%d,["0000:3b:00.0"],[1]]' % NOW_NS
DEEP = 300
DEEP_ENVELOPES = [
    b'{"name":"rnic","tags":{"host":"h"},"x":%b,"fields":"0","rows":[]}' % nested(DEEP),
    b'{"name":%b,"tags":{"host":"h"},"fields":"0","rows":[]}' % nested(DEEP),
    b'{"name":"rnic","tags":{"host":%b},"fields":"0","rows":[]}' % nested(DEEP),
    b'{"rows":[],"name":"rnic","tags":{"host":"h"},"fields":"0","x":%b}' % nested(DEEP),
]


@pytest.mark.parametrize("raw", DEEP_ENVELOPES)
def test_a_block_that_is_nested_too_deeply_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused, match="the block is nested too deeply") as caught:
        BlockReader().read(raw, LATEST_NS)
    assert caught.value.reason == "wrong_type"


DEEP_ROWS = [
    b'[%d,["0000:3b:00.0"],[%b]]' % (NOW_NS, nested(DEEP)),
    b'[%d,["0000:3b:00.0"],[%b]]' % (NOW_NS, b'{"a":' * DEEP + b"1" + b"}" * DEEP),
    b'[%b,["0000:3b:00.0"],[1]]' % nested(DEEP),
    b"[%d,[%b],[1]]" % (NOW_NS, nested(DEEP)),
    b"[%d,%b,[1]]" % (NOW_NS, nested(DEEP)),
    nested(DEEP),
    nested(1_000),
]


@pytest.mark.parametrize("row", DEEP_ROWS)
# With rows of no bracket, the block has as many brackets as one with rows that are right.
@pytest.mark.parametrize("others", [[ROW], [b"7"] * 110, [ROW, *[b"7"] * 332]])
def test_a_row_that_is_nested_too_deeply_is_refused_alone(row: bytes, others: list[bytes]) -> None:
    for head in (b'{"name":"rnic",', b'{ "name":"rnic",'):
        raw = head + b'"tags":{"host":"h"},"fields":"0","rows":[%b]}' % b",".join([row, *others])
        _, good, bad, _ = BlockReader().read(raw, LATEST_NS)
        assert len(good) == others.count(ROW)
        assert [one.reason for one in bad] == ["wrong_type"] * (1 + others.count(b"7"))
        assert bad[0].detail == "a row is nested too deeply"
        assert all(len(one.detail) < 300 for one in bad)
        assert all(orjson.loads(one.value) for one in bad)


@pytest.mark.parametrize("levels", [1, 100, 250, 251, 252, 253, 254, 255])
@pytest.mark.parametrize("at_ns", [b"1", b"%d" % NOW_NS])
def test_a_row_can_be_written_again_or_is_refused_whatever_its_depth(levels: int, at_ns: bytes) -> None:
    raw = b'{"name":"rnic","tags":{"host":"h"},"fields":"0","rows":[[%b,["0000:3b:00.0"],[%b]]]}' % (at_ns, nested(levels))
    name, good, bad, _ = BlockReader().read(raw, LATEST_NS)
    assert len(good) + len(bad) == 1
    assert all(orjson.loads(single(name, *one)) for one in good)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name":"rnic_vf","tags":{"host":"h"},"fields":"0","name":"rnic","rows":[]}',
        b'{"name":"rnic_vf","tags":{"host":"h"},"fields":"0","rows":[],"name":"rnic"}',
        b'{"name":"rnic\\u005fvf","tags":{"host":"h"},"fields":"0","rows":[]}',
    ],
)
def test_a_block_whose_first_bytes_name_another_measurement_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused, match="the block begins with the name of another measurement") as caught:
        BlockReader().read(raw, LATEST_NS)
    assert caught.value.reason == "wrong_measurement"


def test_only_a_comma_is_between_the_envelope_and_the_rows() -> None:
    with pytest.raises(Refused) as caught:
        BlockReader().read(b'{"name":"rnic","tags":{"host":"h"},"fields":"0"Z"rows":[%b]}' % ROW, LATEST_NS)
    assert caught.value.reason == "not_json"


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
