"""B5: reads that are repeated without a counted loss, and what peers count that says nothing of an RNIC."""

from collections.abc import Iterable, Mapping

import pytest
from pipelines.tests.domain.behaviour_stories import grows, raised, run, samples, senders

from wallwatch.domain.symptoms.host_stage import Message
from wallwatch.domain.symptoms.peers import Peers
from wallwatch_testing.stories import of


def reading(card: str, own: Mapping[str, float], peer: Mapping[str, float], more: Iterable[Message] | None = None) -> list[Message]:
    """Reads of host01 from host02, which host03 reads from too."""
    seconds = range(0, 200, 10)
    return [
        *samples(card, lambda at: {"implied_nak_seq_err": 0, **{k: grows(v, 40)(at) for k, v in own.items()}}, seconds),
        *(senders(s, "host01", "10.0.2.1", own="10.0.1.1") for s in seconds),
        *samples("CX-6 Dx", lambda at: {k: grows(v, 40)(at) for k, v in peer.items()}, seconds, "host02"),
        *(senders(s, "host02", "10.0.1.1", "10.0.3.1", own="10.0.2.1") for s in seconds),
        *(another_requester(0.0) if more is None else more),
    ]


READS = {"rx_read_requests": 500.0, "duplicate_request": 12.0}


def test_reads_that_are_repeated_without_a_counted_loss_are_b5() -> None:
    found = of(run(reading("CX-4 Lx", {}, READS), Peers()), "B5")
    assert {f["host"] for f in found} == {"host01"}
    assert "known limitation of CX-4 Lx" in found[0]["explanation"]
    assert "requests again" in found[0]["summary"]
    assert "dropped" not in found[0]["summary"]


def test_drops_while_reads_are_active_without_a_counted_loss_are_b5() -> None:
    quiet = {**READS, "duplicate_request": 0.0}
    assert "B5" in raised(run(reading("CX-4 Lx", {"rx_discards_phy": 20.0}, quiet), Peers()))


def another_requester(lost: float) -> list[Message]:
    seconds = range(0, 200, 10)
    counters = samples("CX-5", lambda at: {"implied_nak_seq_err": grows(lost, 40)(at)}, seconds, "host03")
    return [*counters, *(senders(s, "host03", "10.0.2.1", own="10.0.3.1") for s in seconds)]


def beside_the_flows(lost: float) -> list[Message]:
    """A requester whose reads no offloaded flow carries: nobody is known to send to it."""
    seconds = range(0, 200, 10)
    counters = samples("CX-5", lambda at: {"implied_nak_seq_err": grows(lost, 40)(at)}, seconds, "host03")
    return [*counters, *(senders(s, "host03", own="10.0.3.1") for s in seconds)]


def elsewhere(lost: float) -> list[Message]:
    """Reads of another pair of RNICs, whose responses are lost, counted and asked for again there."""
    seconds = range(0, 200, 10)
    answers = samples("CX-6 Dx", lambda at: {"duplicate_request": grows(lost, 40)(at)}, seconds, "host04")
    return [
        *beside_the_flows(lost),
        *(senders(s, "host03", "10.0.4.1", own="10.0.3.1") for s in seconds),
        *answers,
        *(senders(s, "host04", "10.0.3.1", own="10.0.4.1") for s in seconds),
    ]


def shifted(messages: Iterable[Message], by_ms: int) -> list[Message]:
    """Samples that a host takes later than the others."""
    return [message._replace(at_ns=message.at_ns + by_ms * 1_000_000) for message in messages]


@pytest.mark.parametrize(("reads", "hidden"), [(100, True), (0, False)])
def test_what_an_e810_sends_again_may_be_reads_only_where_it_reads(reads: int, hidden: bool) -> None:
    seconds = range(0, 200, 10)
    sent = samples("E810", lambda at: {"RetransSegs": grows(12.0, 40)(at), "OutRdmaReads": at * reads}, seconds, "host03")
    found = run(reading("CX-4 Lx", {}, READS, [*sent, *(senders(s, "host03", own="10.0.3.1") for s in seconds)]), Peers())
    assert ("B5" in raised(f for f in found if f["host"] == "host01")) is not hidden


def during(periods: Iterable[tuple[float, float]], per_s: float, second: float) -> int:
    """A counter that grows during some periods only."""
    return int(sum(min(max(second - begin, 0.0), end - begin) * per_s for begin, end in periods))


def beside_the_flows_at_times(periods: list[tuple[float, float]], per_s: float, late_ms: int) -> list[Message]:
    """Reads of host03 from host02 beside the offloaded flows, whose losses both count; the two sample at different times."""
    seconds = range(0, 400, 10)
    late_s = late_ms / 1000.0
    lossless = samples("CX-4 Lx", lambda at: {"implied_nak_seq_err": 0}, seconds)
    losing = samples("CX-5", lambda at: {"implied_nak_seq_err": during(periods, per_s, at + late_s)}, seconds, "host03")
    asked = samples(
        "CX-6 Dx", lambda at: {"rx_read_requests": at * 500, "duplicate_request": during(periods, per_s, at)}, seconds, "host02"
    )
    return [
        *lossless, *(senders(s, "host01", "10.0.2.1", own="10.0.1.1") for s in seconds),
        *asked, *(senders(s, "host02", "10.0.1.1", "10.0.3.1", own="10.0.2.1") for s in seconds),
        *shifted(losing, late_ms), *(senders(s, "host03", own="10.0.3.1") for s in seconds),
    ]  # fmt: skip


@pytest.mark.parametrize("late_ms", [0, 100, 5_000, 9_900])
@pytest.mark.parametrize(
    "periods",
    [
        [(43.0, 220.0)],
        [(49.9, 50.1)],
        [(41.0, 60.0), (75.0, 96.0), (118.0, 119.0), (131.0, 180.0)],
        [(n * 14.0, n * 14.0 + 5) for n in range(3, 25)],
    ],
    ids=["begin and end", "a burst", "on and off", "with a rhythm of their own"],
)
def test_what_a_peer_counts_before_the_rnic_that_caused_it_is_sampled_is_not_b5(periods: list[tuple[float, float]], late_ms: int) -> None:
    assert raised(run(beside_the_flows_at_times(periods, 40.0, late_ms), Peers())) == set()


def test_losses_that_are_asked_for_again_elsewhere_do_not_hide_b5() -> None:
    found = run(reading("CX-4 Lx", {}, READS, elsewhere(50.0)), Peers())
    assert "B5" in raised(f for f in found if f["host"] == "host01")


@pytest.mark.parametrize(
    "messages",
    [
        reading("CX-4 Lx", {"rx_discards_phy": 20.0}, {"rx_read_requests": 0.0, "duplicate_request": 0.0}),
        reading("CX-4 Lx", {"implied_nak_seq_err": 12.0}, READS),
        reading("CX-5", {"implied_nak_seq_err": 12.0}, READS),
        reading("CX-4 Lx", {}, READS, another_requester(12.0)),
        reading("CX-4 Lx", {}, READS, beside_the_flows(12.0)),
        reading("CX-4 Lx", {}, {**READS, "duplicate_request": 0.0}),
    ],
    ids=[
        "reads idle",
        "counted",
        "another model counts",
        "another requester lost them",
        "an unknown requester lost them",
        "nothing is lost",
    ],
)
def test_what_is_not_b5(messages: list[Message]) -> None:
    assert "B5" not in raised(f for f in run(messages, Peers()) if f["host"] == "host01")
