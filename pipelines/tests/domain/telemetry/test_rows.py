"""Rows as lists of values say what dictionaries of the same fields say."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.blocks import BlockReader
from wallwatch.domain.telemetry.decode import EARLIEST_NS
from wallwatch.domain.telemetry.rows import Form, Group, Row, several

LATEST_NS = EARLIEST_NS + 10**18
PCIS = ("0000:3b:00.0", "0000:5e:00.0")

scalars = st.one_of(st.integers(-1, 2**40), st.floats(0, 1e9), st.text("ab", max_size=3), st.booleans(), st.none())
names = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1)
odd_values = st.one_of(st.lists(scalars, max_size=4), st.none(), st.just({"a": 1}), st.just([[1], 2, 3]))
odd_rows: st.SearchStrategy[Any] = st.one_of(
    st.tuples(st.sampled_from([0, EARLIEST_NS + 1, LATEST_NS + 1, "now", 1.5]), st.just([PCIS[0]]), odd_values),
    st.tuples(st.just(EARLIEST_NS + 2), st.one_of(st.just([7]), st.just([[]]), st.none(), st.just(["UPPER"]), st.just([])), odd_values),
    scalars,
    st.just([]),
)
good_rows = st.tuples(
    st.integers(EARLIEST_NS, LATEST_NS), st.sampled_from(PCIS).map(lambda pci: [pci]), st.lists(scalars, min_size=3, max_size=3)
)


def block(rows: list[Any]) -> bytes:
    return orjson.dumps({"name": "rnic_offload", "tags": {"host": "h1", "rack": "r1"}, "fields": "0,2-3", "rows": rows})


@settings(max_examples=300)
@given(st.lists(good_rows, max_size=3), st.lists(st.one_of(good_rows, odd_rows), max_size=4))
def test_samples_and_refused_rows_are_those_of_dictionaries(first: list[Any], second: list[Any]) -> None:
    fast, plain = BlockReader(), BlockReader()
    for rows in (first, second, first):
        value = block(rows)
        expected = plain.read(value, LATEST_NS)
        found = fast.read_rows(value, LATEST_NS)
        assert found.refused == expected.refused
        assert [(one.measurement, one.tags, one.at_ns, dict(one.fields)) for one in found.samples] == [
            ("rnic_offload", *one) for one in expected.samples
        ]


def test_rows_of_a_known_origin_are_no_dictionaries() -> None:
    reader = BlockReader()
    value = block([[EARLIEST_NS, [pci], [1, 2, 3]] for pci in PCIS])
    assert [type(one.fields) for one in reader.read_rows(value, LATEST_NS).samples] == [dict, dict]  # the tags had to be checked
    assert [type(one.fields) for one in reader.read_rows(value, LATEST_NS).samples] == [Row, Row]
    fields = layouts()["rnic_offload"].fields
    assert dict(reader.read_rows(value, LATEST_NS).samples[0].fields) == {fields[0]: 1, fields[2]: 2, fields[3]: 3}


@given(names, names, st.data())
def test_a_row_is_asked_as_a_dictionary(has: list[str], asked: list[str], data: st.DataObject) -> None:
    values = data.draw(st.lists(scalars, min_size=len(has), max_size=len(has)))
    fields = dict(zip(has, values, strict=True))
    row, group = Row(Form(tuple(has)), values), Group(*asked)
    for _ in range(2):
        assert several(row, group) == several(fields, group)
    assert dict(row) == fields
    assert len(row) == len(fields)
    for name in asked:
        assert row.get(name, 7) == fields.get(name, 7)
        assert (name in row) == (name in fields)
        if name not in fields:
            with pytest.raises(KeyError):
                row[name]
