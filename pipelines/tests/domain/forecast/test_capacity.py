"""What congested cards hold back, from what they let through: a small fleet whose shares are known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from wallwatch.domain.forecast.peers import Weights, join
from wallwatch.domain.forecast.physical_model import Parameters
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.throttle_tracker import FOLLOWED, Doubt, RnicMinute, ThrottleTracker, settled
from wallwatch.domain.forecast.throttled_share import Congested, ThrottledShares

RNICS = 12
PACKETS_A_GBIT = 30_000.0


@dataclass(frozen=True)
class Fleet:
    """What its collectors report, and the shares by which its cards let packets through."""

    by: Weights
    cards: RnicMinute
    congested: Congested
    sends: Floats
    receives: Floats
    wanted: Floats
    """Gbit/s of each pair."""

    def without_what_is_held_back(self) -> Floats:
        """`Q_r` as it is where packets that wait are not counted."""
        return join(self.by, self.cards.q_ingress, self.cards.spread_ingress).mean

    def q_r(self, held: ThrottledShares) -> Floats:
        return join(self.by, self.cards.q_ingress, self.cards.spread_ingress, held.asked(self.by)).mean

    def true_q_r(self) -> Floats:
        return join(self.by, self.cards.q_ingress, self.cards.spread_ingress, self.wanted).mean


def fleet(seed: int, busy: float = 25.0) -> Fleet:
    """Every RNIC wants to send to every other one; some receivers are deep, so they are asked for more than they can let in."""
    rng = np.random.default_rng(seed)
    senders, receivers = np.nonzero(~np.eye(RNICS, dtype=np.bool_))
    wanted = rng.uniform(0.2, 1.0, len(senders)) * rng.uniform(0.3, 1.0, RNICS)[senders] * busy
    deep = np.where(rng.random(RNICS) < 0.4, rng.uniform(15.0, 30.0, RNICS), rng.uniform(0.0, 2.0, RNICS))
    unknown = np.full(RNICS, np.nan)
    cards = RnicMinute(
        Parameters.of(["CX-6"] * RNICS), rng.uniform(0.0, 8.0, RNICS), np.zeros(RNICS), deep, np.zeros(RNICS), unknown, unknown
    )
    nothing = np.zeros(RNICS)
    asked = Weights(senders, receivers, wanted, np.zeros(len(senders)), np.full(len(senders), np.nan), nothing)
    there = join(asked, deep, nothing)
    can_send = cards.capacity(cards.q_l, nothing, there.mean, there.spread)
    total = np.bincount(receivers, weights=wanted, minlength=RNICS)
    mean = np.bincount(receivers, weights=wanted * cards.q_l[senders], minlength=RNICS) / total
    square = np.bincount(receivers, weights=wanted * cards.q_l[senders] ** 2, minlength=RNICS) / total
    can_let_in = cards.capacity(mean, np.sqrt(square - mean**2), deep, nothing)
    sends = np.minimum(1.0, can_send / np.bincount(senders, weights=wanted, minlength=RNICS))
    receives = np.minimum(1.0, can_let_in / total)
    through = wanted * np.minimum(sends[senders], receives[receivers])
    sent = np.bincount(senders, weights=through, minlength=RNICS)
    by = replace(asked, packets=through * PACKETS_A_GBIT)
    return Fleet(by, replace(cards, sent_gbps=sent), Congested(sends < 1.0, receives < 1.0), sends, receives, wanted)


def followed(given: Fleet, minutes: int = 15) -> ThrottledShares:
    tracker = ThrottleTracker(given.by)
    for _ in range(minutes):
        tracker.step(given.by, given.congested, given.cards)
    return tracker.held


@pytest.mark.parametrize("seed", range(1, 5))
def test_lookups_are_near_the_truth_where_the_start_of_the_congestion_was_not_sampled(seed: int) -> None:
    given = fleet(seed)
    assert given.congested.receives.any()
    before = np.abs(given.without_what_is_held_back() - given.true_q_r()).mean()
    after = np.abs(given.q_r(followed(given)) - given.true_q_r()).mean()
    assert after < 0.25 * before


def test_true_shares_stay() -> None:
    given = fleet(1)
    doubt = Doubt(np.full(RNICS, FOLLOWED), np.full(RNICS, FOLLOWED))
    found = settled(ThrottledShares(given.sends, given.receives), doubt, given.by, given.congested, given.cards)
    np.testing.assert_allclose(found.sends, given.sends, rtol=0.01)
    np.testing.assert_allclose(found.receives, given.receives, rtol=0.01)


def test_a_fleet_without_congestion_holds_nothing_back() -> None:
    given = fleet(1, busy=2.0)
    assert not given.congested.sends.any() | given.congested.receives.any()
    found = followed(given)
    assert found.sends.tolist() == found.receives.tolist() == [1.0] * RNICS


def test_a_card_that_gives_less_than_its_model_to_receivers_that_hold_nothing_back_is_not_explained_away() -> None:
    given = fleet(1, busy=2.0)
    congested = Congested(np.arange(RNICS) == 3, np.zeros(RNICS, dtype=np.bool_))
    found = followed(replace(given, congested=congested, cards=replace(given.cards, sent_gbps=0.2 * given.cards.sent_gbps)))
    assert found.receives.tolist() == [1.0] * RNICS
    np.testing.assert_allclose(given.q_r(found), given.true_q_r())


def test_what_is_not_measured_gives_no_equation_and_no_nan() -> None:
    given = fleet(2)
    for sent in (np.where(np.arange(RNICS) % 2, np.nan, given.cards.sent_gbps), np.full(RNICS, np.nan)):
        found = followed(replace(given, cards=replace(given.cards, sent_gbps=sent)))
        assert np.isfinite([found.sends, found.receives]).all()
    unknown = replace(given.cards, parameters=Parameters.of([None] * RNICS))
    found = followed(replace(given, cards=unknown))
    assert np.isfinite([found.sends, found.receives]).all()


def test_a_card_whose_rate_is_not_measured_is_taken_to_send_packets_of_the_usual_size() -> None:
    # Two senders of equal packets to one receiver that lets through a part: what the second sends is told by the size of the others'.
    by = Weights(np.array([0, 1]), np.array([2, 2]), np.array([1e6, 1e6]), np.zeros(2), np.full(2, np.nan), np.zeros(3))
    nothing, congested = np.zeros(3), Congested(np.zeros(3, dtype=np.bool_), np.arange(3) == 2)
    sent = np.array([100.0, 100.0, np.nan])
    before = ThrottledShares(np.ones(3), np.array([1.0, 1.0, 0.6]))

    def let_in(gbps: Floats) -> float:
        cards = RnicMinute(Parameters.of(["CX-6"] * 3), nothing, nothing, nothing, nothing, gbps, np.full(3, np.nan))
        return float(settled(before, Doubt(np.ones(3), np.ones(3)), by, congested, cards).receives[2])

    assert let_in(np.array([100.0, np.nan, np.nan])) == pytest.approx(let_in(sent))
    assert let_in(sent) != pytest.approx(let_in(np.array([100.0, 0.0, np.nan])))


def test_receivers_have_no_equation_where_much_of_the_traffic_is_of_unknown_rnics() -> None:
    given = fleet(3)
    much = replace(given.by, elsewhere=np.full(RNICS, given.by.packets.sum() / RNICS))
    no_senders = replace(given.cards, sent_gbps=np.where(given.congested.sends, np.nan, given.cards.sent_gbps))
    before, doubt = (
        ThrottledShares(np.where(given.congested.sends, 0.7, 1.0), np.where(given.congested.receives, 0.9, 1.0)),
        Doubt(*np.ones((2, RNICS))),
    )
    assert np.allclose(settled(before, doubt, much, given.congested, no_senders).receives, before.receives)
    assert not np.allclose(settled(before, doubt, given.by, given.congested, no_senders).receives, before.receives)


def test_rnics_that_join_a_fleet_find_room() -> None:
    given, tracker = fleet(4), ThrottleTracker()
    tracker.step(Weights(*(np.empty(0, dtype=np.intp),) * 2, *(np.empty(0),) * 3, np.zeros(0)), Congested.nowhere(0), None)
    tracker.step(given.by, given.congested, given.cards)
    assert len(tracker.held.sends) == len(tracker.held.receives) == RNICS
