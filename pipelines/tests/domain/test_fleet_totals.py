"""What the fleet counts of an effect beyond its cause: never anything where everybody counts, however the samples lie."""

import random

import pytest

from wallwatch.domain.symptoms.fleet_totals import FleetTotals, Growth
from wallwatch.domain.symptoms.peers import FRESH_MS, HANDLED, REPEATED, SILENT_MS, Peers

Burst = tuple[float, float, float]
"""Begin and end in s, notifications per second."""


def counted(bursts: list[Burst], at_s: float) -> float:
    return sum(per_s * min(max(at_s - begin, 0.0), end - begin) for begin, end, per_s in bursts)


def samples(rng: random.Random, rnics: int, length_s: float) -> list[tuple[float, int]]:
    """Times at which each RNIC is sampled: about every 10 s from a phase of its own, and now and then not at all."""
    phases = [rng.uniform(0, 10) for _ in range(rnics)]
    times = (
        (phase + 10 * n + rng.choice([0.0, 0.0, rng.uniform(-0.3, 0.3)]), rnic) for rnic, phase in enumerate(phases) for n in range(40)
    )
    return sorted((at_s, rnic) for at_s, rnic in times if at_s < length_s and rng.random() > 0.02)


def traffic(rng: random.Random, rnics: int) -> list[tuple[int, int, list[Burst]]]:
    """Who sends notifications to whom, and when."""
    found = []
    for _ in range(rng.randint(1, 6)):
        sender, handler = rng.sample(range(rnics), 2)
        bursts, at_s = [], rng.uniform(20, 100)
        for _ in range(rng.randint(1, 6)):
            length_s = rng.choice([0.5, 3.0, 8.0, 12.0, 40.0, 100.0])
            bursts.append((at_s, at_s + length_s, rng.choice([5.0, 50.0, 2000.0])))
            at_s += length_s + rng.choice([1.0, 7.0, 15.0, 40.0])
        found.append((sender, handler, bursts))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_where_everybody_counts_nothing_is_unexplained_whenever_each_is_sampled(seed: int) -> None:
    rng = random.Random(seed)
    rnics = rng.randint(2, 6)
    streams, peers = traffic(rng, rnics), Peers()
    known = 0
    for at_s, rnic in samples(rng, rnics, 300.0):
        sent = int(sum(counted(bursts, at_s) for sender, _, bursts in streams if sender == rnic))
        handled = int(sum(counted(bursts, at_s) for _, handler, bursts in streams if handler == rnic))
        peers.hear_rnic((str(rnic), ""), int(at_s * 1000), {}, {"np_cnp_sent": sent, "rp_cnp_handled": handled})
        found = peers.unexplained(HANDLED, int(at_s * 1000))
        if found is not None:
            known += 1
            assert found.amount < 10, at_s  # counters are whole numbers
    assert known > 20


@pytest.mark.parametrize("seed", range(20))
def test_what_one_rnic_sends_without_counting_it_shows_within_45_s_and_never_more_than_that(seed: int) -> None:
    rng = random.Random(seed)
    peers, begin = Peers(), rng.uniform(60, 90)
    first: float | None = None
    for at_s, rnic in samples(rng, 5, 200.0):
        others = {"np_cnp_sent": int(at_s * 300) if rnic == 1 else 0, "rp_cnp_handled": int(at_s * 300) if rnic == 2 else 0}
        uncounted = counted([(begin, 500.0, 200.0)], at_s)
        fields = {"rp_cnp_handled": int(uncounted), "np_cnp_sent": 0} if rnic == 3 else others
        peers.hear_rnic((str(rnic), ""), int(at_s * 1000), {}, fields)
        found = peers.unexplained(HANDLED, int(at_s * 1000))
        if found is not None and found.per_s >= 1.0:
            first = first or at_s
            assert at_s > begin
            assert found.amount <= counted([(begin, 500.0, 200.0)], at_s) + 10
    assert first is not None
    assert first - begin <= 45.0  # of which one interval may be a sample left out


def test_a_window_that_nobody_knows_from_its_begin_says_nothing() -> None:
    totals = FleetTotals(2)
    totals.unknown_until(5_000)
    totals.add(0, 60_000, [Growth(0, 600.0, 0.0)])
    assert totals.unexplained(0, 1, 14_000) is None
    found = totals.unexplained(0, 1, 15_000)
    assert found is not None
    assert (found.amount, found.per_s) == pytest.approx((100.0, 10.0))


def test_what_a_rate_has_just_changed_by_is_in_doubt_between_samples_and_certain_at_them() -> None:
    totals = FleetTotals(2)
    totals.add(20_500, 30_500, [Growth(0, 300.0, 300.0)])
    assert [found.amount for end in (30_000, 31_000) if (found := totals.unexplained(0, 1, end))] == pytest.approx([0.0, 300.0])


def heard(peers: Peers, name: str, seconds: range, per_s: float = 50.0, counter: str = "rp_cnp_handled") -> None:
    for second in seconds:
        peers.hear_rnic((name, ""), second * 1000, {}, {"np_cnp_sent": 0, counter: int(second * per_s)})


def test_counting_that_ends_just_after_it_has_grown_is_in_doubt_until_its_end() -> None:
    """Its mean over the last interval is as before, so only the next sample shows that something changed."""
    peers = Peers()

    def hear(second: float, name: str, counters: dict[str, int]) -> None:
        peers.hear_rnic((name, ""), int(second * 1000), {}, counters)

    for second in range(10, 70, 10):
        hear(second, "requester", {"implied_nak_seq_err": 230 * (second - 10), "duplicate_request": 0})
        hear(second + 0.5, "responder", {"implied_nak_seq_err": 0, "duplicate_request": round(230 * (second - 9.5))})
    for second in range(70, 120, 10):  # 242 per second until 70 s, then nothing
        hear(second, "requester", {"implied_nak_seq_err": 11500 + 2420, "duplicate_request": 0})
        hear(second + 0.5, "responder", {"implied_nak_seq_err": 0, "duplicate_request": 11500 + 2420})
        found = peers.unexplained(REPEATED, second * 1000 + 500)
        assert found is not None
        assert found.amount == pytest.approx(0.0, abs=1e-6)


def test_while_a_part_of_the_fleet_is_not_heard_nothing_is_known() -> None:
    peers = Peers()
    heard(peers, "host01", range(0, 100, 10))
    assert peers.unexplained(HANDLED, 90_000) is not None
    peers.all_heard = False
    assert peers.unexplained(HANDLED, 90_000) is None


def test_an_rnic_that_counted_and_became_silent_may_still_be_the_cause() -> None:
    peers = Peers()
    heard(peers, "host02", range(0, 100, 10), counter="np_cnp_sent")
    for second in range(0, 4000, 10):
        heard(peers, "host01", range(second, second + 1))
        known = peers.unexplained(HANDLED, second * 1000) is not None
        assert known == (10 <= second <= 150 or second * 1000 - 90_000 > SILENT_MS), second
    assert FRESH_MS == 60_000


def test_a_reset_counter_makes_what_was_before_it_unknown() -> None:
    peers = Peers()
    heard(peers, "host01", range(0, 100, 10))
    heard(peers, "host02", range(0, 60, 10), counter="np_cnp_sent")
    peers.hear_rnic(("host02", ""), 90_000, {}, {"np_cnp_sent": 3})
    assert peers.unexplained(HANDLED, 92_000) is None


def test_a_counter_that_is_missing_in_a_sample_makes_what_was_before_the_next_one_unknown() -> None:
    peers = Peers()
    heard(peers, "host02", range(0, 60, 10), counter="np_cnp_sent")
    peers.hear_rnic(("host02", ""), 60_000, {}, {"rp_cnp_handled": 0})
    heard(peers, "host02", range(70, 100, 10), counter="np_cnp_sent")
    heard(peers, "host01", range(0, 80, 10))
    assert peers.unexplained(HANDLED, 72_000) is None
    heard(peers, "host01", range(80, 100, 10))
    found = peers.unexplained(HANDLED, 92_000)
    assert found is not None
    assert found.amount == 0.0
