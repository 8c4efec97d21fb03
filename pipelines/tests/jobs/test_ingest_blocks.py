"""Blocks are stored exactly as the single messages that they stand for, whichever path reads them."""

import json
import random
import time
from collections import Counter
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.blocks import BlockReader
from wallwatch.domain.telemetry.decode import Sender
from wallwatch.domain.telemetry.keys import REDACTED, TAG, Keys, key_of
from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.jobs.ingest_batch import Batch
from wallwatch.store.block_columns import BlockColumns
from wallwatch_testing.blocks import block
from wallwatch_testing.ingest_batches import Builder, Record, builder, content

SECRET = bytes(range(32))
KEY = key_of(SECRET, "h1")
NOW_NS = time.time_ns() // 10**9 * 10**9
PLAIN = {"int": b"17", "float": b"0.25", "text": b'"up"'}
TAGS = {"pci": "0000:3b:00.0", "direction": "egress", "mask": "0a1b", "vf": "3", "vf_pci": "0000:3b:00.2", "datapath": "system@ovs-system"}
PROVES = Keys([SECRET]).proves


class Row(NamedTuple):
    """One sample: texts of its values by field, its own tags, its time."""

    values: tuple[bytes, ...]
    tags: dict[str, Any]
    at_ns: Any


class Sent(NamedTuple):
    """Samples of one host with the same fields."""

    name: str
    fields: tuple[str, ...]
    of_all: dict[str, Any]
    rows: list[Row]
    record_key: bytes | None

    def as_block(self) -> list[Record]:
        fields = dict.fromkeys(self.fields)
        messages = [{"name": self.name, "tags": self.of_all | row.tags, "fields": fields, "timestamp": row.at_ns} for row in self.rows]
        return [Record("blocks", block(messages, [list(row.values) for row in self.rows]), self.record_key)]

    def as_singles(self) -> list[Record]:
        found = []
        for row in self.rows:
            inside = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in zip(self.fields, row.values, strict=True))
            tail = orjson.dumps(self.of_all | row.tags, option=orjson.OPT_SORT_KEYS)
            raw = b'{"fields":{%b},"name":"%b","tags":%b,"timestamp":%d}' % (inside, self.name.encode(), tail, row.at_ns)
            found.append(Record(self.name, raw, self.record_key))
        return found


plain_values = {
    "int": st.integers(0, 2**63 - 1).map(lambda n: b"%d" % n),
    "float": st.one_of(st.integers(0, 10**6).map(lambda n: b"%d" % n), st.floats(0, 1e12).map(lambda x: orjson.dumps(x))),
    "text": st.text('abcXYZ019_.- é"\\\n', max_size=9).map(lambda text: json.dumps(text, ensure_ascii=False).encode()),
}
odd_values = st.sampled_from(
    [b"-1", b"-0", b"1.50", b"1e5", b"-0.5", b"0.0", b"true", b"null", b"[1]", b"{}", b"9223372036854775808", b'"\\u0000"', b'"\\u003c"',
     b'"]],["', b'"a\\"b"', b'""', b"123456789012345678", b"1234567890123456789"]
)  # fmt: skip
odd_tags = st.dictionaries(
    st.sampled_from([*TAGS, "netdev", "fw_ver"]), st.sampled_from(["", "x<y", "0000:3B:00.0", "0000:3b:00.1", "7", 4, "]],["]), max_size=2
)


@st.composite
def sent(draw: st.DrawFn, measurement: Measurement) -> Sent:
    """A block of this measurement: mostly right, sometimes odd in one row or another."""
    layout = layouts()[measurement.name]
    some = draw(st.sampled_from([1, 4, len(measurement.fields)]))
    fields = sorted(random.Random(draw(st.integers(0, 9))).sample(list(layout.fields), some))
    if draw(st.integers(0, 4)) == 0:
        fields = sorted([*fields, "from_the_future"])
    of_all: dict[str, Any] = {"host": "h1", "rack": "r1", TAG: KEY} | draw(st.sampled_from([{}, {}, {"site": "x"}]))
    if draw(st.integers(0, 9)) == 0:
        of_all |= draw(st.sampled_from([{"host": "h2"}, {"rack": "<b>"}, {TAG: "wwt1_x"}, {TAG: key_of(SECRET, "h2")}]))
    rows = []
    for number in range(draw(st.integers(1, 4))):
        values = []
        for name in fields:
            known = measurement.fields.get(name)
            values.append(PLAIN[known.type] if known else draw(st.sampled_from([b"1", b"2.5e3", b'"x"', b"null", b"[1]"])))
        for place in draw(st.lists(st.integers(0, len(fields) - 1), max_size=3)):
            if fields[place] in measurement.fields:
                values[place] = draw(plain_values[measurement.fields[fields[place]].type])
        if draw(st.integers(0, 5)) == 0:
            values[draw(st.integers(0, len(fields) - 1))] = draw(odd_values)
        tags: dict[str, Any] = {name: tag for name, tag in TAGS.items() if name in measurement.tags}
        if draw(st.integers(0, 5)) == 0:
            tags |= {name: tag for name, tag in draw(odd_tags).items() if name in layout.tags}
        at_ns = draw(st.sampled_from([NOW_NS + number] * 7 + [12, NOW_NS + 3600 * 10**9, 2**63, -5]))
        rows.append(Row(tuple(values), tags, at_ns))
    return Sent(measurement.name, tuple(fields), of_all, rows, draw(st.sampled_from([b"h1"] * 5 + [b"h2", None])))


def outcome(made: Builder, rounds: list[list[Record]]) -> dict[str, Any]:
    """What is stored and heard, and what of it refused: an envelope that is refused counts once for all its rows."""
    batch = Batch()
    for part in rounds:
        made.builder.add(batch, part)
    found = content(batch)
    del found["offsets"]
    heard = Counter((name, tuple(sorted(tags.items())), at) for name, tags, at in made.heard)
    return found | {
        "rejected": Counter((letter.topic, letter.reason, letter.detail) for letter in batch.rejected),
        "heard": heard,
        "tags": {subject: rnic.tags for subject, rnic in made.identities.rnics.items()},
        "samples": batch.samples,
    }


def checking(checked: bool) -> Any:
    return (lambda record_key: Sender(record_key, PROVES)) if checked else (lambda record_key: None)


def refused_as_a_whole(found: dict[str, Any]) -> bool:
    """What concerns all rows of a block is said once, of the block."""
    return any(topic == "wallwatch.blocks" for topic, _, _ in found["rejected"])


@pytest.mark.parametrize("measurement", sorted(layouts()))
# No explanations: tracing each line to find them takes most of the time.
@settings(max_examples=20, deadline=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), checked=st.booleans())
def test_blocks_store_what_single_messages_store(measurement: str, data: st.DataObject, checked: bool) -> None:
    some = data.draw(st.lists(sent(measurements()[measurement]), min_size=1, max_size=3))
    for one in some:
        singles = outcome(builder(False, checking(checked)), [one.as_singles()])
        in_columns = outcome(builder(True, checking(checked)), [one.as_block()])
        assert in_columns == outcome(builder(False, checking(checked)), [one.as_block()])
        if refused_as_a_whole(in_columns):
            assert not in_columns["rows"]
            assert not singles["rows"]
            assert singles["rejected"].total() == len(one.rows)
        else:
            del singles["samples"], in_columns["samples"]  # refused single messages are counted before they are read
            assert in_columns == singles
    rounds = [[record for one in some for record in one.as_block()]] * 2
    assert outcome(builder(True, checking(checked)), rounds) == outcome(builder(False, checking(checked)), rounds)


@pytest.mark.parametrize("measurement", sorted(layouts()))
def test_blocks_as_collectors_write_them_are_read_in_columns(measurement: str) -> None:
    """Without this, the comparison above would also pass if nothing was read in columns."""
    registered = measurements()[measurement]
    fields = tuple(sorted(registered.fields))
    tags = {name: tag for name, tag in TAGS.items() if name in registered.tags}
    rows = [Row(tuple(PLAIN[registered.fields[name].type] for name in fields), tags, NOW_NS + i) for i in range(5)]
    one = Sent(measurement, fields, {"host": "h1", "rack": "r1", TAG: KEY}, rows, b"h1").as_block()[0]
    for end in (b"", b"\n"):
        batch = Batch()
        builder(True, checking(True)).builder.add(batch, [one._replace(content=(one.content or b"") + end)])
        table = batch.tables[registered.table]
        assert (len(table.rows), table.rows_in_blocks, batch.rejected, batch.samples) == (0, 5, [], 5)


@pytest.mark.parametrize("measurement", ["rnic_mask", "rnic_vf"])
def test_tags_of_parts_that_are_known_of_one_host_are_right_only_with_right_tags_of_another(measurement: str) -> None:
    registered = measurements()[measurement]
    fields = tuple(sorted(registered.fields))
    values = tuple(PLAIN[registered.fields[name].type] for name in fields)
    own = {name: tag for name, tag in TAGS.items() if name in registered.tags}
    hosts: list[dict[str, Any]] = [
        {"host": "h1", "rack": "r1"},
        {"host": "h2", "rack": "r1"},
        {"host": "h3", "rack": "<b>"},
        {"host": "h<4"},
        {"rack": "r1"},
        {"host": "h5", "vf_pci": "x<y"},
        {"host": "h6", "pci": "0000:3b:00.1"},
        {"host": "h7", "site": "<b>"},
    ]
    rows = [own, own | {"mask": "0b", "vf": "4"}, own | {"pci": ""}, own]
    sent = [
        Sent(
            measurement,
            fields,
            of_all,
            [Row(values, {n: t for n, t in row.items() if n in own}, NOW_NS + i) for i, row in enumerate(some)],
            b"h",
        )
        for of_all in hosts
        for some in (rows[:2], rows)
    ]
    known, single = builder(True, checking(False)), builder(False, checking(False))
    for one in sent:
        found, wanted = outcome(known, [one.as_block()]), outcome(single, [one.as_singles()])
        if refused_as_a_whole(found):
            assert not found["rows"]
            assert not wanted["rows"]
        else:
            del found["samples"], wanted["samples"]
            assert found == wanted
    assert {host for host, _ in known.identities.rnics} >= {"h1", "h2", "h7"}


GOOD = Sent(
    "rnic_offload",
    ("flows_offloaded", "max_idle_ms"),
    {"host": "h1", "rack": "r1", TAG: KEY},
    [Row((b"3", b"10000"), {"pci": f"0000:3b:00.{i}"}, NOW_NS + i) for i in range(4)],
    b"h1",
)


def changed(**more: Any) -> bytes:
    """The good block with other properties; None removes one."""
    found = {**orjson.loads(GOOD.as_block()[0].content or b""), **more}
    return orjson.dumps({name: value for name, value in found.items() if value is not None})


ROWS: list[Any] = orjson.loads(changed())["rows"]


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        (None, "empty", "no value"),
        (b"", "not_json", ""),
        (changed()[:-9], "not_json", ""),
        (changed() + b"]", "not_json", ""),
        (changed() + changed(), "not_json", ""),
        (b"[1,2]", "not_an_object", "not list"),
        (b'{"rows":[]}', "wrong_measurement", "'None' is not a measurement that is sent in blocks"),
        (changed(name="event"), "wrong_measurement", "'event' is not"),
        (changed(name=7), "wrong_measurement", "'7'"),
        (changed(tags=None), "wrong_type", "tags of a block"),
        (changed(tags={"host": "h1", "rack": 4}), "wrong_type", "with texts"),
        (changed(tags={"rack": "r1"}), "missing_tag", "'host'"),
        (changed(tags={"host": "h1", "rack": "a\0", TAG: KEY}), "nul_character", "NUL"),
        (changed(tags={"host": "h1", "rack": "r1"}), "wrong_principal", "no telemetry key"),
        (changed(tags={"host": "h2", "rack": "r1", TAG: KEY}), "wrong_principal", "record's key"),
        (changed(tags={"host": "h1", "rack": "r" * 20_000, TAG: KEY}), "out_of_range", "16384 bytes"),
        (changed(fields=None), "wrong_type", "places of the fields"),
        (changed(fields="x"), "wrong_type", "'x' in `fields` is not the place"),
        (changed(fields="5-2"), "wrong_type", "must ascend"),
        (changed(fields="3,3"), "wrong_type", "must ascend"),
        (changed(fields="0-99999"), "wrong_type", "from 0 to 999"),
        (changed(fields=""), "out_of_range", "from 1 to 1000 fields, not 0"),
        (changed(more=["a", "a"]), "wrong_type", "twice"),
        (changed(more=["flows_offloaded"]), "wrong_type", "twice"),
        (changed(more="a"), "wrong_type", "`more`"),
        (changed(more=["a" * 9 + str(i) for i in range(999)]), "out_of_range", "from 1 to 1000 fields"),
        (changed(rows=None), "wrong_type", "rows of a block must be a list"),
        (changed(rows={}), "wrong_type", "rows of a block must be a list"),
        (changed(rows=[ROWS[0]] * 1001), "out_of_range", "at most 1000 rows, not 1001"),
        (changed().replace(b',"rows"', b'Z"rows"'), "not_json", ""),
        (changed()[:-1] + b',"name":"rnic_mask"}', "wrong_measurement", "begins with the name of another"),
        (changed().replace(b',"rows"', b',"name":"rnic_mask","rows"'), "wrong_measurement", "begins with the name of another"),
        (changed()[:-1] + b',"x":' + b"[" * 300 + b"]" * 300 + b"}", "wrong_type", "nested too deeply"),
        (changed().replace(b',"rows"', b',"x":' + b"[" * 300 + b"]" * 300 + b',"rows"'), "wrong_type", "nested too deeply"),
    ],
)
@pytest.mark.parametrize("in_columns", [True, False])
def test_a_block_that_cannot_be_read_is_refused_once_with_what_is_wrong(
    value: bytes | None, reason: str, detail: str, in_columns: bool
) -> None:
    made, batch = builder(in_columns, checking(True)), Batch()
    made.builder.add(batch, [Record("blocks", value, b"h1"), *GOOD.as_block()])
    (letter,) = batch.rejected
    assert (letter.topic, letter.reason) == ("wallwatch.blocks", reason)
    assert detail in letter.detail
    assert KEY.encode() not in (letter.value or b"")
    assert batch.tables["offload_sample"].row_count == 4


@pytest.mark.parametrize(
    ("row", "topic", "reason", "detail"),
    [
        (7, "wallwatch.blocks", "wrong_type", "a row is [time, [tags], [2 values]], not 7"),
        ([NOW_NS, ["0000:3b:00.0"]], "wallwatch.blocks", "wrong_type", "a row is"),
        ([NOW_NS, ["0000:3b:00.0"], [3]], "wallwatch.blocks", "wrong_type", "[2 values]"),
        ([NOW_NS, ["0000:3b:00.0"], [3, 4, 5]], "wallwatch.blocks", "wrong_type", "[2 values]"),
        ([NOW_NS, ["0000:3b:00.0"], "ab"], "wallwatch.blocks", "wrong_type", "[2 values]"),
        ([NOW_NS, "pci", [3, 4]], "wallwatch.blocks", "wrong_type", "the tags of a row must be a list"),
        ([NOW_NS, [["x"]], [3, 4]], "wallwatch.rnic_offload", "wrong_type", "every tag must be text"),
        ([NOW_NS, [4], [3, 4]], "wallwatch.rnic_offload", "wrong_type", "every tag must be text"),
        ([NOW_NS, [], [3, 4]], "wallwatch.rnic_offload", "missing_tag", "'pci'"),
        ([NOW_NS, ["x<y"], [3, 4]], "wallwatch.rnic_offload", "bad_identity", "the pci 'x<y'"),
        ([1, ["0000:3b:00.0"], [3, 4]], "wallwatch.rnic_offload", "bad_timestamp", "before 2020"),
        ([NOW_NS, ["0000:3b:00.0"], [-3, 4]], "wallwatch.rnic_offload", "out_of_range", "flows_offloaded"),
        ([NOW_NS, ["0000:3b:00.0"], [3, "a\0"]], "wallwatch.rnic_offload", "nul_character", "NUL"),
        ([NOW_NS, ["0000:3b:00.0"], [3, None]], "wallwatch.rnic_offload", "wrong_type", "max_idle_ms must be int, not NoneType"),
    ],
)
@pytest.mark.parametrize("in_columns", [True, False])
def test_one_bad_row_is_refused_alone_and_can_be_sent_again(row: Any, topic: str, reason: str, detail: str, in_columns: bool) -> None:
    made, batch = builder(in_columns, checking(True)), Batch()
    made.builder.add(batch, [Record("blocks", changed(rows=[ROWS[0], row, *ROWS[1:]]), b"h1", 5)])
    (letter,) = batch.rejected
    assert (letter.topic, letter.reason, letter.offset, letter.key) == (topic, reason, 5, b"h1")
    assert detail in letter.detail
    assert batch.tables["offload_sample"].row_count == 4
    again = Batch()
    repeated = (letter.value or b"").replace(REDACTED.encode(), KEY.encode())
    made.builder.add(again, [Record(letter.topic.removeprefix("wallwatch."), repeated, b"h1")])
    assert [(one.topic, one.reason, one.detail) for one in again.rejected] == [(topic, reason, letter.detail)]


NESTED = b"[" * 300 + b"]" * 300


@pytest.mark.parametrize(
    "row",
    [
        b'[%d,["0000:3b:00.0"],[3,%b]]' % (NOW_NS, NESTED),
        b'[%d,["0000:3b:00.0"],%b]' % (NOW_NS, NESTED),
        b"[%d,[%b],[3,4]]" % (NOW_NS, NESTED),
        b'[%b,["0000:3b:00.0"],[3,4]]' % NESTED,
        NESTED,
    ],
)
@pytest.mark.parametrize("in_columns", [True, False])
def test_a_row_that_is_nested_too_deeply_is_refused_and_the_others_are_stored(row: bytes, in_columns: bool) -> None:
    made, batch = builder(in_columns, checking(True)), Batch()
    made.builder.add(batch, [Record("blocks", changed().replace(b'"rows":[', b'"rows":[%b,' % row), b"h1")])
    (letter,) = batch.rejected
    assert (letter.topic, letter.reason, letter.detail) == ("wallwatch.blocks", "wrong_type", "a row is nested too deeply")
    assert batch.tables["offload_sample"].row_count == 4


@pytest.mark.parametrize("in_columns", [True, False])
def test_a_single_message_that_is_nested_too_deeply_is_refused(in_columns: bool) -> None:
    (good, *_) = (one.content or b"" for one in GOOD.as_singles())
    bad = [
        good.replace(b'"max_idle_ms":10000', b'"max_idle_ms":%b' % NESTED),
        good.replace(b'"name":"rnic_offload"', b'"name":%b' % NESTED),
        good.replace(b'"timestamp":', b'"x":%b1%b,"timestamp":' % (b'{"a":' * 300, b"}" * 300)),
    ]
    made, batch = builder(in_columns, checking(True)), Batch()
    for raw in (good, *bad):
        made.builder.add(batch, [Record("rnic_offload", raw, b"h1")])
    assert [one.reason for one in batch.rejected] == ["wrong_type"] * 3
    assert batch.tables["offload_sample"].row_count == 1


@pytest.mark.parametrize("in_columns", [True, False])
def test_a_block_of_two_names_harms_no_other_one_in_the_same_chunk(in_columns: bool) -> None:
    spoilt = b'{"name":"rnic_vf","tags":{"host":"h1","rack":"r1","%b":"%b"},"name":"rnic_offload",' % (TAG.encode(), KEY.encode())
    spoilt += b'"fields":"0","rows":[[%d,["0000:3b:00.0"],[3]]]}' % NOW_NS
    tags = {name: TAGS[name] for name in layouts()["rnic_vf"].tags if name in TAGS}
    field = next(name for name, one in measurements()["rnic_vf"].fields.items() if one.type == "int")
    right = Sent("rnic_vf", (field,), {"host": "h1", "rack": "r1", TAG: KEY}, [Row((b"17",), tags, NOW_NS)], b"h1")
    made, batch = builder(in_columns, checking(True)), Batch()
    made.builder.add(batch, [Record("blocks", spoilt, b"h1"), *right.as_block(), Record("blocks", spoilt, b"h1")])
    assert [one.reason for one in batch.rejected] == ["wrong_measurement"] * 2
    assert {name: table.row_count for name, table in batch.tables.items()} == {measurements()["rnic_vf"].table: 1}


def test_columns_remember_only_what_proves_its_name_and_not_more_than_is_allowed() -> None:
    raw = GOOD.as_block()[0].content or b""
    columns = BlockColumns(measurements()["rnic_offload"], BlockReader(), most_bytes=30_000)
    latest_ns = NOW_NS + 10**12
    wrong = Sender(b"h2", PROVES)
    assert columns.known(raw, wrong) is None
    assert columns._memory.used == 0
    for number in range(100):
        some = raw.replace(b"0000:3b:00.0", b"%04x:3b:00.0" % number).replace(b'"r1"', b'"r%d"' % number)
        known = columns.known(some, Sender(b"h1", PROVES))
        assert known is not None
        (scanned,) = columns.scan([(some, known)], latest_ns)
        assert scanned.counts == {0: 4}
        assert 0 < columns._memory.used <= 30_000
        assert len(columns._memory.known) <= 20
    bad = raw.replace(b"0000:3b:00.1", b"x<y")
    known = columns.known(bad, None)
    assert known is not None
    assert columns.scan([(bad, known)], latest_ns) == []
    assert len(known.origins) == 3


def test_what_a_newer_collector_sends_is_counted_as_unknown_and_the_rest_is_stored() -> None:
    values, places = [1, 2, 2.5, "new"], f"{layouts()['rnic_mask'].fields.index('packets_per_s')},{len(layouts()['rnic_mask'].fields)}"
    tags = {"host": "h1", "rack": "r1"}
    rows = [[NOW_NS, ["0000:3b:00.0", "egress", "ff", "a tag of the future"], values]]
    raw = orjson.dumps({"name": "rnic_mask", "tags": tags, "fields": places, "more": ["a", "b"], "rows": rows})
    for in_columns in (True, False):
        batch = Batch()
        builder(in_columns).builder.add(batch, [Record("blocks", raw)])
        table = batch.tables["mask_sample"]
        assert (batch.rejected, table.row_count, table.unknown_fields) == ([], 1, 3)


def test_a_key_that_was_right_before_the_secret_changed_is_refused_although_its_block_is_remembered() -> None:
    current = [Keys([SECRET])]
    made, batch = builder(True, lambda record_key: Sender(record_key, current[0].proves)), Batch()
    made.builder.add(batch, GOOD.as_block())
    current[0] = Keys([bytes(32)])
    made.builder.add(batch, GOOD.as_block())
    assert batch.tables["offload_sample"].row_count == 4
    assert [letter.reason for letter in batch.rejected] == ["wrong_principal"]


@settings(max_examples=100, deadline=None, phases=[Phase.generate, Phase.shrink])
@given(
    at=st.integers(0, 400), cut=st.integers(0, 12), more=st.binary(max_size=4) | st.sampled_from([b"]],[", b"]", b"null", b'"', b"1", b","])
)
def test_damaged_blocks_are_read_alike_on_both_paths(at: int, cut: int, more: bytes) -> None:
    raw = GOOD.as_block()[0].content or b""
    spoilt = Record("blocks", raw[: at % len(raw)] + more + raw[at % len(raw) + cut :], b"h1")
    rounds = [[*GOOD.as_block(), spoilt], [spoilt, *GOOD.as_block()]]
    assert outcome(builder(True, checking(True)), rounds) == outcome(builder(False, checking(True)), rounds)
