"""Differences of counters: wraps, resets, impossible values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.isolation.counters import COUNTERS, Limits, Outcome, careful_changes
from wallwatch.domain.isolation.readings import Counters

LIMITS = Limits(25e9)


def counters(rx_bytes: int | None = 0, rx_packets: int | None = 0, **more: int | None) -> Counters:
    return Counters(**(dict.fromkeys(COUNTERS, 0) | {"rx_bytes": rx_bytes, "rx_packets": rx_packets} | more))


@pytest.mark.parametrize("bits", [32, 40, 48, 64])
def test_a_counter_that_passes_its_end_has_wrapped(bits: int) -> None:
    outcome, increases = careful_changes(counters((1 << bits) - 1000, 10), counters(2000, 13), 1.0, LIMITS, narrow=False)
    assert (outcome, increases[:2]) == (Outcome.WRAPPED, [3000, 3])


def test_counters_that_start_again_are_a_reset() -> None:
    outcome, increases = careful_changes(counters(10**12, 10**9), counters(5000, 5), 1.0, LIMITS, narrow=False)
    assert outcome is Outcome.RESET
    assert set(increases) == {None}


def test_bytes_near_the_end_of_32_bits_are_a_reset_when_the_packets_start_again_too() -> None:
    # 2^32 - 3e9 could have wrapped, 1e6 packets cannot
    outcome, _ = careful_changes(counters((1 << 32) - 10**9, 10**6), counters(5000, 5), 1.0, LIMITS, narrow=False)
    assert outcome is Outcome.RESET


def test_a_wrap_that_would_give_packets_of_a_megabyte_is_a_reset() -> None:
    outcome, _ = careful_changes(counters((1 << 32) - 10**9, 100), counters(5000, 600), 1.0, LIMITS, narrow=False)
    assert outcome is Outcome.RESET


def test_more_than_the_card_can_do_is_impossible() -> None:
    outcome, increases = careful_changes(counters(0), counters(10**12, 10**9), 1.0, LIMITS, narrow=False)
    assert outcome is Outcome.IMPOSSIBLE
    assert increases[0] is None


def test_a_narrow_byte_counter_gets_the_turns_that_its_packets_need() -> None:
    # 100 million packets of 60 bytes are 6e9 bytes: one turn of 32 bits and a rest
    outcome, increases = careful_changes(counters(0), counters(6 * 10**9 % (1 << 32), 10**8), 1.0, LIMITS, narrow=True)
    assert (outcome, increases[0]) == (Outcome.GOOD, 6 * 10**9)


def test_a_missing_counter_is_unknown_and_the_others_count() -> None:
    outcome, increases = careful_changes(counters(0, 0, tx_dropped=None), counters(900, 9), 1.0, LIMITS, narrow=False)
    assert (outcome, increases[:2], increases[5]) == (Outcome.GOOD, [900, 9], None)


U64 = st.integers(0, (1 << 64) - 1)


@given(old=st.lists(U64, min_size=6, max_size=6), new=st.lists(U64, min_size=6, max_size=6), span=st.floats(0.5, 30), narrow=st.booleans())
def test_no_increase_is_ever_negative_or_above_what_the_card_can_do(old: list[int], new: list[int], span: float, narrow: bool) -> None:
    _, increases = careful_changes(Counters(*old), Counters(*new), span, LIMITS, narrow)
    for name, increase in zip(COUNTERS, increases, strict=True):
        most = LIMITS.bytes_per_s if name.endswith("bytes") else LIMITS.packets_per_s
        assert increase is None or 0 <= increase <= most * span + (1 << 32)
