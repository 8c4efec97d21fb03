"""What congested cards hold back, from what changes at once."""

import numpy as np
import pytest

from wallwatch.domain.forecast.peers import Weights, join
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.throttled_share import LEAST_SHARE, Congested, ThrottledShares, step

RNICS = 8
BUSY = 7
"""The receiver that is asked for too much."""


def report(packets: Floats) -> Weights:
    """From packets/s of each pair, shape (rnics, rnics); 0 where nothing is sent."""
    senders, receivers = np.nonzero(packets)
    nothing = np.full(len(senders), np.nan)
    return Weights(senders, receivers, packets[senders, receivers], np.zeros(len(senders)), nothing, np.zeros(len(packets)))


def congested(sends: tuple[int, ...] = (), receives: tuple[int, ...] = (), rnics: int = RNICS) -> Congested:
    found = Congested.nowhere(rnics)
    found.sends[list(sends)], found.receives[list(receives)] = True, True
    return found


@pytest.fixture
def wanted() -> Floats:
    packets = np.random.default_rng(6).uniform(10.0, 100.0, (RNICS, RNICS))
    np.fill_diagonal(packets, 0.0)
    return packets


def let_through(wanted: Floats, sends: Floats, receives: Floats) -> Floats:
    return wanted * np.minimum(sends[:, None], receives[None, :])


def test_a_receiver_that_slows_down_all_its_senders_is_distinguished_from_a_sender_that_wants_less(wanted: Floats) -> None:
    slow = np.ones(RNICS)
    slow[BUSY] = 0.6
    now = let_through(wanted, np.ones(RNICS), slow)
    now[2] *= 0.3  # its job has shrunk
    held = step(ThrottledShares.nothing(RNICS), report(wanted), report(now), congested(receives=(BUSY,)))
    assert held.receives[BUSY] == pytest.approx(0.6)
    assert np.delete(held.receives, BUSY).tolist() == [1.0] * (RNICS - 1)
    assert held.sends.tolist() == [1.0] * RNICS


def test_a_congested_sender_and_congested_receivers_are_distinguished(wanted: Floats) -> None:
    sends, receives = np.ones(RNICS), np.ones(RNICS)
    sends[0], receives[[3, BUSY]] = 0.8, (0.5, 0.7)
    now = report(let_through(wanted, sends, receives))
    held = step(ThrottledShares.nothing(RNICS), report(wanted), now, congested((0,), (3, BUSY)))
    np.testing.assert_allclose(held.sends, sends)
    np.testing.assert_allclose(held.receives, receives)
    np.testing.assert_allclose(held.asked(now), wanted[now.senders, now.receivers])


def test_shares_add_up_over_reports_and_end_with_the_congestion(wanted: Floats) -> None:
    held, before = ThrottledShares.nothing(RNICS), report(wanted)
    slow = np.ones(RNICS)
    for share in (0.9, 0.7, 0.8):
        slow[BUSY] = share
        now = report(let_through(wanted, np.ones(RNICS), slow))
        held, before = step(held, before, now, congested(receives=(BUSY,))), now
        assert held.receives[BUSY] == pytest.approx(share)
    assert held.still(congested(receives=(BUSY,))).receives[BUSY] == pytest.approx(0.8)
    assert held.still(congested()).receives[BUSY] == 1.0


def test_errors_never_add_up_to_more_than_four_times(wanted: Floats) -> None:
    held = ThrottledShares.nothing(RNICS)
    for _ in range(5):
        held = step(held, report(wanted), report(0.5 * wanted), congested((1,), (BUSY,)))
    assert (held.sends[1], held.receives[BUSY]) == (LEAST_SHARE, LEAST_SHARE)


@pytest.mark.parametrize("senders", [0, 1, 2])
def test_few_pairs_show_nothing(wanted: Floats, senders: int) -> None:
    wanted[senders:, BUSY] = 0.0
    held = step(ThrottledShares.nothing(RNICS), report(wanted), report(0.5 * wanted), congested(receives=(BUSY,)))
    assert held.receives[BUSY] == 1.0


def test_a_fleet_that_has_grown_keeps_what_is_known(wanted: Floats) -> None:
    held = ThrottledShares.nothing(RNICS)
    held.receives[BUSY] = 0.5
    more = np.zeros((RNICS + 2, RNICS + 2))
    more[:RNICS, :RNICS] = wanted
    grown = step(held, report(wanted), report(more), congested(receives=(BUSY, RNICS + 1), rnics=RNICS + 2))
    assert grown.receives.tolist() == [*[1.0] * BUSY, 0.5, 1.0, 1.0]


def test_lookups_at_receivers_that_hold_packets_back_count_for_those_that_wait_too(wanted: Floats) -> None:
    slow, deep = np.ones(RNICS), np.zeros(RNICS)
    slow[BUSY], deep[BUSY] = 0.5, 20.0
    now = report(let_through(wanted, np.ones(RNICS), slow))
    held = ThrottledShares(np.ones(RNICS), slow)
    there = join(now, deep, np.zeros(RNICS), held.asked(now))
    np.testing.assert_allclose(there.mean[:BUSY], 20.0 * wanted[:BUSY, BUSY] / wanted[:BUSY].sum(axis=1))
    assert (join(now, deep, np.zeros(RNICS)).mean[:BUSY] < there.mean[:BUSY]).all()
