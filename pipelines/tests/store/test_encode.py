"""Binary COPY rows, taken apart again by hand."""

import json
import struct
from typing import Any

import pytest

from wallwatch.domain.telemetry.registry import measurements
from wallwatch.store.encode import PG_EPOCH_US, Encoded, Sample, TableEncoder

RNIC = TableEncoder(measurements()["rnic"], "rnic_id")
MASK = TableEncoder(measurements()["rnic_mask"], "rnic_id", ("direction", "mask"))
VF = TableEncoder(measurements()["rnic_vf"], "rnic_id", ("vf_pci", "representor", "netdev"), ("vf",))
AT_NS = 1_790_000_000_123_456_789


def cells(row: bytes, columns: tuple[str, ...]) -> dict[str, bytes | None]:
    """A row by column; None is NULL."""
    (count,) = struct.unpack_from(">h", row)
    assert count == len(columns)
    found: dict[str, bytes | None] = {}
    at = 2
    for column in columns:
        (length,) = struct.unpack_from(">i", row, at)
        at += 4
        found[column] = None if length < 0 else row[at : at + length]
        at += max(length, 0)
    assert at == len(row)
    return found


def number(cell: bytes | None, kind: str = ">q") -> Any:
    assert cell is not None
    return struct.unpack(kind, cell)[0]


def encode(*fields: dict[str, Any], encoder: TableEncoder = RNIC, keys: tuple[str, ...] = ()) -> Encoded:
    return encoder.encode([Sample(7, AT_NS, keys, f) for f in fields])


def test_each_value_is_in_its_column_and_what_is_absent_is_null() -> None:
    row = cells(encode({"port_xmit_data": 2**60, "tx_gbps": 1.5, "port_state": "ACTIVE"}).rows[0], RNIC.columns)
    assert number(row["time"]) == AT_NS // 1000 - PG_EPOCH_US
    assert number(row["rnic_id"], ">i") == 7
    assert number(row["port_xmit_data"]) == 2**60
    assert number(row["tx_gbps"], ">d") == 1.5
    assert row["port_state"] == b"ACTIVE"
    assert row["rx_gbps"] is None
    assert row["other"] is None


def test_the_number_of_a_virtual_function_is_a_number_of_the_row() -> None:
    sample = Sample(7, AT_NS, ("0000:3b:00.2", "ens1f0_0", ""), {"tx_bytes": 5, "state": "host"}, numbers=(63,))
    row = cells(VF.encode([sample]).rows[0], VF.columns)
    assert number(row["vf"], ">i") == 63
    assert (number(row["tx_bytes"]), row["vf_pci"], row["netdev"], row["state"]) == (5, b"0000:3b:00.2", b"", b"host")
    assert row["rx_bytes"] is None


def test_a_counter_at_zero_is_zero_and_not_null() -> None:
    assert number(cells(encode({"port_xmit_data": 0}).rows[0], RNIC.columns)["port_xmit_data"]) == 0


def test_the_largest_counter_is_kept_exactly() -> None:
    assert number(cells(encode({"port_xmit_data": 2**63 - 1}).rows[0], RNIC.columns)["port_xmit_data"]) == 2**63 - 1


def test_other_fields_that_are_not_zero_are_json() -> None:
    other = cells(encode({"lifespan": 10, "cnpSent": 0, "phys_state": "LinkUp"}).rows[0], RNIC.columns)["other"]
    assert other is not None
    assert other[:1] == b"\x01"
    assert json.loads(other[1:]) == {"lifespan": 10, "phys_state": "LinkUp"}


def test_key_columns_and_text_follow_the_numbers() -> None:
    row = cells(encode({"position": 3, "match": "ip"}, encoder=MASK, keys=("egress", "abc")).rows[0], MASK.columns)
    assert (row["direction"], row["mask"], row["match"], number(row["position"])) == (b"egress", b"abc", b"ip", 3)
    assert row["flows"] is None


def test_samples_with_different_fields_are_all_encoded() -> None:
    encoded = encode({"port_xmit_data": 1}, {"tx_gbps": 2}, {"port_xmit_data": 3}, {"tx_gbps": 4.5, "rx_gbps": 0})
    assert len(encoded.rows) == 4
    assert encoded.refused == []
    rates = [cells(r, RNIC.columns)["tx_gbps"] for r in encoded.rows]
    assert sorted(number(r, ">d") for r in rates if r is not None) == [2.0, 4.5]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"port_xmit_data": -1}, "out_of_range"),
        ({"port_xmit_data": 2**63}, "out_of_range"),
        ({"port_xmit_data": 2**64}, "out_of_range"),
        ({"port_xmit_data": 1.5}, "wrong_type"),
        ({"port_xmit_data": "1"}, "wrong_type"),
        ({"port_xmit_data": True}, "wrong_type"),
        ({"port_xmit_data": None}, "wrong_type"),
        ({"port_xmit_data": [1]}, "wrong_type"),
        ({"tx_gbps": -0.1}, "out_of_range"),
        ({"tx_gbps": 1e300}, "out_of_range"),
        ({"tx_gbps": "fast"}, "wrong_type"),
        ({"port_state": 4}, "wrong_type"),
        ({"lifespan": "long"}, "wrong_type"),
        ({"lifespan": -5}, "out_of_range"),
        ({"phys_state": 5}, "wrong_type"),
        ({}, "no_fields"),
        ({"colour": "red"}, "no_fields"),
    ],
)
def test_a_bad_sample_is_refused_with_a_reason_and_its_neighbours_are_kept(fields: dict[str, Any], reason: str) -> None:
    good = {**dict.fromkeys(fields, None), **fields}
    encoded = encode({"port_xmit_data": 5}, fields, {"port_xmit_data": 6}, good)
    assert [r for _, r, _ in encoded.refused] == [reason, reason]
    assert len(encoded.rows) == 2


def test_a_number_out_of_range_is_refused_whatever_the_others_are() -> None:
    assert [r for _, r, _ in encode({"tx_gbps": 1e300}, {"tx_gbps": 1.0}).refused] == ["out_of_range"]


def test_a_field_that_the_registry_does_not_have_is_counted_and_the_rest_kept() -> None:
    encoded = encode({"port_xmit_data": 1, "from_the_future": 2})
    assert (len(encoded.rows), encoded.unknown_fields) == (1, 1)


def test_minutes_are_those_of_the_stored_rows() -> None:
    samples = [Sample(1, at * 1_000_000_000, (), {"tx_gbps": value}) for at, value in ((120, 1.0), (60, -1.0), (200, 2.0), (190, 3.0))]
    assert RNIC.encode(samples).minutes == {2, 3}
