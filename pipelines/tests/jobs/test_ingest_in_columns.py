"""Reading messages in columns stores exactly what reading them one by one stores, whatever arrives."""

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from wallwatch.domain.telemetry.decode import Sender
from wallwatch.domain.telemetry.keys import TAG, Keys, key_of
from wallwatch.domain.telemetry.registry import Measurement, stored_measurements
from wallwatch.jobs.ingest_batch import Batch
from wallwatch_testing.ingest_batches import Builder, Record, builder, content

SECRET = bytes(range(32))
NOW_NS = time.time_ns() // 10**9 * 10**9
PLAIN = {"int": "17", "float": "0.25", "text": '"up"', "bool": "true"}
TAGS = {
    "host": "h1", "rack": "r1", "pci": "0000:3b:00.0", "direction": "egress", "mask": "0a1b", "vf": "3", "vf_pci": "0000:3b:00.2",
    "datapath": "system@ovs-system", "policy": "flow-once", "revision": "a1", "kind": "cni_add",
}  # fmt: skip

plain_numbers = st.one_of(
    st.just("0"),
    st.integers(0, 2**64).map(str),
    st.floats(0, allow_nan=False, allow_infinity=False).map(lambda x: json.dumps(x)),
    st.floats(0, 1e6).map(lambda x: f"{x:.3f}"),
)
odd_values = st.one_of(
    st.sampled_from(
        [
            "-1", "-0", "00", "01", "1.", ".5", "1.50", "1e5", "1E+2", "1e999", "-0.5", "1-2", "", "+1", "0.0", "1 ", "true", "false",
            "null", "[1]", "{}", "123456789012345678", "1234567890123456789", "9223372036854775807", "9223372036854775808",
            '"', '"\\u0000"', '"\\n"', '"a\\"b"', '"a\\\\"', '"a\\tb"', '"\\u003c"', '"\\/"', '"\\"', '"\x01"',
        ]
    ),
    st.text(max_size=12).map(json.dumps),
    st.text(max_size=12).map(lambda text: json.dumps(text, ensure_ascii=False)),
)  # fmt: skip
odd_tags = st.dictionaries(
    st.sampled_from([*TAGS, TAG, "site", "fw_ver"]),
    st.one_of(st.sampled_from(["", "x<y", "h2", "0000:3B:00.0", "0000:3b:00.1", "7", key_of(SECRET, "h2")]), st.none(), st.integers(0, 9)),
    max_size=2,
)
odd_times = st.sampled_from(["0", "12", str(2**63), str(2**64), "1e18", "-5", str(NOW_NS + 3600 * 10**9), "01", '"now"'])
spoilt = st.sampled_from([
    lambda raw: raw[:-1], lambda raw: raw + b" ", lambda raw: b" " + raw, lambda raw: raw.replace(b",", b", ", 1), lambda raw: b"",
    lambda raw: raw.replace(b'"name":', b'"name" :'), lambda raw: raw.replace(b"}", b',"more":1}', 1), lambda raw: raw + raw,
    lambda raw: raw.replace(b'"tags":{', b'"fields":{"tx_gbps":1},"tags":{'), lambda raw: raw.replace(b'"fields"', b'"field"'),
    lambda raw: raw.replace(b'"name"', b'"tags":{"host":"h2"},"name"'), lambda raw: raw.replace(b"h1", b"\xff1"),
    lambda raw: raw.replace(b',"timestamp"', b',"site":"x","timestamp"'), lambda raw: raw.replace(b'"h1"', b'"h\\u0031"'),
])  # fmt: skip


def text_of(name: str, fields: dict[str, str], tags: dict[str, Any], at: str) -> bytes:
    """A message as Telegraf writes it, from the texts of its values."""
    inside = ",".join(f"{json.dumps(field)}:{value}" for field, value in fields.items())
    tail = json.dumps(tags, separators=(",", ":"), sort_keys=True)
    return f'{{"fields":{{{inside}}},"name":"{name}","tags":{tail},"timestamp":{at}}}'.encode("utf-8", "surrogatepass")


def tags_of(measurement: Measurement) -> dict[str, Any]:
    """Tags with which a message is accepted."""
    return {name: TAGS.get(name, "a1") for name in measurement.tags if name in TAGS or name in measurement.key_tags}


@st.composite
def records(draw: st.DrawFn, measurement: Measurement) -> Record:
    """A message of this measurement: mostly right, sometimes odd in one or two places."""
    some = draw(st.sampled_from([1, 3, len(measurement.fields)]))
    fields = {name: PLAIN[measurement.fields[name].type] for name in sorted(measurement.fields)[:some]}
    for name in draw(st.lists(st.sampled_from(sorted(fields)), max_size=4)):
        fields[name] = draw(st.just('"ab"') if measurement.fields[name].type == "text" else plain_numbers)
    if draw(st.integers(0, 3)) == 0:
        fields[draw(st.sampled_from(sorted(fields)))] = draw(odd_values)
    if draw(st.integers(0, 5)) == 0:
        fields[draw(st.sampled_from(["from_the_future", "né", 'a"b', "x y"]))] = draw(st.one_of(plain_numbers, odd_values))
    tags: dict[str, Any] = tags_of(measurement)
    tags[TAG] = key_of(SECRET, "h1")
    if draw(st.integers(0, 3)) == 0:
        tags |= draw(odd_tags)
    at = str(NOW_NS - draw(st.integers(0, 3)) * 10**9 + draw(st.integers(0, 10**9)))
    if draw(st.integers(0, 9)) == 0:
        at = draw(odd_times)
    raw = text_of(measurement.name, fields, {tag: value for tag, value in tags.items() if value is not None}, at)
    if draw(st.integers(0, 5)) == 0:
        raw = draw(spoilt)(raw)
    return Record(measurement.name, raw, draw(st.sampled_from([b"h1", b"h1", b"h1", b"h2", None])))


def outcome(made: Builder, rounds: list[list[Record]]) -> dict[str, Any]:
    batch = Batch()
    for number, part in enumerate(rounds):
        made.builder.add(batch, [one._replace(number=number) for one in part])
    heard = [(name, tuple(sorted(tags.items())), at) for name, tags, at in made.heard]
    return content(batch) | {"heard": heard, "tags": {subject: rnic.tags for subject, rnic in made.identities.rnics.items()}}


@pytest.mark.parametrize("measurement", sorted(stored_measurements()))
# No explanations: tracing each line to find them takes most of the time.
@settings(max_examples=40, deadline=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), checked=st.booleans())
def test_columns_store_what_one_by_one_stores(measurement: str, data: st.DataObject, checked: bool) -> None:
    some = data.draw(st.lists(records(stored_measurements()[measurement]), min_size=1, max_size=6))
    proves = Keys([SECRET]).proves
    check = (lambda record_key: Sender(record_key, proves)) if checked else (lambda record_key: None)
    in_columns, one_by_one = builder(True, check), builder(False, check)
    rounds = [some, some[::-1], some]
    assert outcome(in_columns, rounds) == outcome(one_by_one, rounds)


@pytest.mark.parametrize("measurement", sorted(set(stored_measurements()) - {"event"}))
def test_messages_of_a_shape_that_was_seen_are_read_in_columns(measurement: str) -> None:
    """Without this, the comparison above would also pass if nothing was read in columns."""
    registered = stored_measurements()[measurement]
    fields = {name: PLAIN[registered.fields[name].type] for name in sorted(registered.fields)}
    tags = tags_of(registered)
    made, batch = builder(True), Batch()
    for second in range(3):
        made.builder.add(batch, [Record(measurement, text_of(measurement, fields, tags, str(NOW_NS + second)))])
    table = batch.tables[registered.table]
    assert (len(table.rows), table.rows_in_blocks) == (1, 2)


def test_a_key_that_was_right_before_the_secret_changed_is_refused_although_its_tags_are_remembered() -> None:
    current = [Keys([SECRET])]
    made, batch = builder(True, lambda record_key: Sender(record_key, current[0].proves)), Batch()
    tags = {"host": "h1", "pci": TAGS["pci"], TAG: key_of(SECRET, "h1")}
    message = Record("rnic", text_of("rnic", {"tx_gbps": "1"}, tags, str(NOW_NS)))
    made.builder.add(batch, [message])
    made.builder.add(batch, [message])
    current[0] = Keys([bytes(32)])
    made.builder.add(batch, [message])
    assert batch.tables["rnic_sample"].row_count == 2
    assert [letter.reason for letter in batch.rejected] == ["wrong_principal"]


def test_a_new_field_of_newer_collectors_is_counted_and_does_not_slow_the_others_down() -> None:
    made, batch = builder(True), Batch()
    message = text_of(
        "rnic", {"tx_gbps": "1", "from_the_future": "2.5e3", "new_state": '"x"'}, {"host": "h1", "pci": TAGS["pci"]}, str(NOW_NS)
    )
    for _ in range(3):
        made.builder.add(batch, [Record("rnic", message)])
    table = batch.tables["rnic_sample"]
    assert (table.rows_in_blocks, table.unknown_fields) == (2, 6)


def test_more_shapes_than_are_remembered_are_still_all_stored() -> None:
    names = sorted(stored_measurements()["rnic_offload"].fields)
    numeric = [n for n in names if stored_measurements()["rnic_offload"].fields[n].numeric]
    messages = [
        Record("rnic_offload", text_of("rnic_offload", {name: str(i)}, {"host": "h1", "pci": TAGS["pci"]}, str(NOW_NS + i)))
        for i, name in enumerate(numeric)
    ]
    made, batch = builder(True), Batch()
    for _ in range(3):
        for message in messages:
            made.builder.add(batch, [message])
    assert len(messages) > 20
    assert batch.tables["offload_sample"].row_count == 3 * len(messages)


def test_only_the_rnics_of_samples_that_came_late_are_noted() -> None:
    made, batch = builder(True), Batch()
    for hours, pci in ((0, 0), (0, 0), (5, 1), (5, 2), (5, 2), (26, 2)):
        tags = {"host": "h1", "pci": f"0000:3b:00.{pci}"}
        made.builder.add(batch, [Record("rnic", text_of("rnic", {"tx_gbps": "1"}, tags, str(NOW_NS - hours * 3_600 * 10**9)))])
    table = batch.tables["rnic_sample"]
    assert (len(table.rows), table.rows_in_blocks) == (1, 5), "both ways of reading"
    now = NOW_NS // (3_600 * 10**9)
    first, second, third = (made.identities.rnics["h1", f"0000:3b:00.{pci}"].rnic_id for pci in range(3))
    assert table.late.of_hour == {now - 5: {second, third}, now - 26: {third}}
    assert first not in table.late.of_hour[now - 5]


def test_how_late_is_late_does_not_change_within_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a minute in which some samples were not late yet, not all RNICs are known."""
    made, batch = builder(True), Batch()
    minute = NOW_NS // (60 * 10**9) - 300
    for before, at, pci in ((minute, minute - 1, 0), (minute, minute + 1, 1), (minute + 5, minute + 1, 2)):
        monkeypatch.setattr("wallwatch.jobs.ingest_batch.late_minute", lambda before=before: before)
        tags = {"host": "h1", "pci": f"0000:3b:00.{pci}"}
        made.builder.add(batch, [Record("rnic", text_of("rnic", {"tx_gbps": "1"}, tags, str(at * 60 * 10**9)))])
    late = batch.tables["rnic_sample"].late
    first = made.identities.rnics["h1", "0000:3b:00.0"].rnic_id
    assert (late.before, late.of_hour) == (minute, {(minute - 1) // 60: {first}})
