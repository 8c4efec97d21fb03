"""Numbers of masks in names and orders, and the lookups that follow from them."""

import math
from typing import Any

import pytest

from wallwatch.domain.calibration.conditions import (
    MOST_MASKS,
    Masks,
    Place,
    Queries,
    incomplete_counts,
    place_of,
    place_of_name,
    queries,
)
from wallwatch.domain.perftest.runs import Quantity, Verb

ALL = {"cen": 1, "cde": 2, "sen": 4, "sde": 8}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("cen_1_cde_2_sen_4_sde_8.log", Masks(1, 2, 4, 8)),
        ("CEN1-cde=2_SEN-4_sde8", Masks(1, 2, 4, 8)),
        ("ql_10_qr_2.5", Queries(10.0, 2.5)),
        ("q_l=10,q_r=0", Queries(10.0, 0.0)),
        ("cen_1_cde_2_sen_4", None),
        ("cen_1_cde_2_sen_4_sde_8_cen_9", None),
        ("cen_1_cde_2_sen_4_sde_8_ql_1_qr_1", Masks(1, 2, 4, 8)),
        ("cen_1_ql_1_qr_1", None),
        ("ql_1", None),
        ("ql_1_ql_2_qr_3", None),
        ("accen_1_cde_2_sen_4_sde_8", None),
        ("", None),
    ],
)
def test_a_name_has_all_four_masks_or_both_lookups(name: str, place: Place | None) -> None:
    assert place_of_name(name) == place


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("cen_1_cde_2_sen_4_sde_8", ""),
        ("send_bw", ""),
        ("cen_1_cde_2_sen_4", " (its name has no sde)"),
        ("cen_1_cde_2_sen_4_sde_8_sde_9_cde_1", " (its name has cde, sde twice)"),
        ("cen_1_cen_2", " (its name has no cde, sen, sde, and cen twice)"),
    ],
)
def test_a_name_says_what_it_lacks(name: str, clause: str) -> None:
    assert incomplete_counts(name) == clause


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (ALL, ""),
        (ALL | {"cen": 0}, ""),
        (ALL | {"cen": MOST_MASKS}, ""),
        (ALL | {"cen": 3.0}, ""),
        (ALL | {"cen": MOST_MASKS + 1}, "cen .* must be a whole number from 0"),
        (ALL | {"cen": -1}, "cen .* must be a whole number from 0"),
        (ALL | {"cen": 1.5}, "cen .* must be a whole number"),
        (ALL | {"cen": True}, "cen .* must be a whole number"),
        (ALL | {"cen": math.nan}, "cen .* must be a whole number"),
        (ALL | {"cen": "1"}, "cen .* must be a whole number"),
        (ALL | {"speed": 1}, "unknown: speed"),
        ({"cen": 1, "cde": 2}, "missing: sde, sen"),
        ({"ql": 1, "qr": 2.5}, ""),
        ({"ql": 0, "qr": MOST_MASKS}, ""),
        ({"ql": 0, "qr": MOST_MASKS + 0.1}, "qr .* must be a number from 0"),
        ({"ql": -0.1, "qr": 1}, "ql .* must be a number from 0"),
        ({"ql": math.inf, "qr": 1}, "ql .* must be a number from 0"),
        ({"ql": 1}, "missing: qr"),
        ({"ql": 1, "qr": 2, "cen": 1}, "unknown: cen"),
        ({}, "missing: cde, cen, sde, sen"),
    ],
)
def test_counts_are_complete_and_possible(counts: dict[str, Any], message: str) -> None:
    if message:
        with pytest.raises(ValueError, match=message):
            place_of(counts)
    else:
        place_of(counts)


@pytest.mark.parametrize(
    ("quantity", "verb", "bidirectional", "expected"),
    [
        ("latency", "send", False, (5.0, 10.0)),
        ("latency", "read", True, (5.0, 10.0)),
        ("bandwidth", "send", False, (1.0, 8.0)),
        ("bandwidth", "write", False, (1.0, 8.0)),
        ("bandwidth", "read", False, (4.0, 2.0)),
        ("bandwidth", "send", True, (2.5, 5.0)),
        ("bandwidth", "read", True, (2.5, 5.0)),
    ],
)
def test_lookups_are_those_of_the_chains_that_the_packets_pass(
    quantity: Quantity, verb: Verb, bidirectional: bool, expected: tuple[float, float]
) -> None:
    assert queries(Masks(1, 2, 4, 8), quantity, verb, bidirectional) == expected
    assert queries(Queries(3.0, 7.0), quantity, verb, bidirectional) == (3.0, 7.0)
