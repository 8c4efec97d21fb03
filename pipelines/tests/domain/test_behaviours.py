"""Behaviours of transport engines, through the stage: what raises each, what does not, and what nobody can know."""

from typing import Any

import pytest
from pipelines.tests.domain.behaviour_stories import Counters, Fields, grows, raised, run, samples, senders

from wallwatch.domain.catalogue.load import behaviours, contradictions
from wallwatch.domain.symptoms import contradictions as pairs
from wallwatch.domain.symptoms.contradictions import Readings, Verdict
from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch_testing.stories import PCI, of, second_of

# The engine of pairs


def readings(*rows: tuple[float, int, int]) -> Readings:
    found: Readings = []
    for second, cause, effect in rows:
        pairs.take(found, contradictions()["unanswered_marks"], int(second * 1000), cause, effect)
    return found


@pytest.mark.parametrize(
    ("rows", "verdict", "unanswered"),
    [
        ([(0, 0, 0), (10, 500, 0)], Verdict.CONTRADICTS, 500.0),
        ([(0, 0, 0), (10, 500, 40)], Verdict.AGREES, 0.0),
        ([(0, 0, 0), (10, 500, 40), (20, 900, 40)], Verdict.CONTRADICTS, 400.0),
        ([(0, 700, 3), (10, 700, 3)], Verdict.AGREES, 0.0),
        ([(0, 0, 0)], Verdict.UNKNOWN, None),
        ([(0, 5000, 0), (10, 4000, 0)], Verdict.UNKNOWN, None),
        ([(0, 0, 900), (10, 4000, 20)], Verdict.UNKNOWN, None),
        ([(0, 0, 0), (10, 4000, 0), (80, 9000, 0)], Verdict.UNKNOWN, None),
        ([(0, 0, 0), *((second, second * 100, 0) for second in range(10, 200, 10))], Verdict.CONTRADICTS, 6000.0),
    ],
    ids=["still", "follows", "stops", "quiet", "first", "cause reset", "effect reset", "gap", "a minute at most"],
)
def test_a_pair_contradicts_agrees_or_is_unknown(rows: list[tuple[float, int, int]], verdict: Verdict, unanswered: float | None) -> None:
    kept = readings(*rows)
    judged = pairs.judge(kept, contradictions()["unanswered_marks"], kept[-1][0])
    assert (judged.verdict, judged.unanswered) == (verdict, unanswered)
    assert len(kept) <= 8


def test_readings_that_have_become_old_say_nothing() -> None:
    kept = readings((0, 0, 0), (10, 500, 0))
    assert pairs.judge(kept, contradictions()["unanswered_marks"], 71_000).verdict is Verdict.UNKNOWN


def test_a_counter_that_the_driver_reads_rarely_gets_twice_its_lifespan() -> None:
    pair = contradictions()["unanswered_marks"]
    kept = readings((0, 0, 0), (10, 500, 0), (20, 900, 0))
    assert pairs.judge(kept, pair, 20_000, lifespan_ms=5_000).unanswered == 500.0
    assert pairs.judge(kept, pair, 20_000, lifespan_ms=20_000).verdict is Verdict.UNKNOWN
    assert pairs.judge(kept, pair, 20_000, lifespan_ms=30_000).verdict is Verdict.UNKNOWN


def test_an_effect_within_the_tolerance_counts_as_still() -> None:
    pair = contradictions()["unanswered_marks"].model_copy(update={"tolerance": 0.1})
    kept: Readings = []
    for row in ((0, 0, 0), (10_000, 1000, 100), (20_000, 2000, 190)):
        pairs.take(kept, pair, *row)
    assert pairs.judge(kept, pair, 20_000).verdict is Verdict.CONTRADICTS
    pairs.take(kept, pair, 30_000, 3000, 400)
    assert pairs.judge(kept, pair, 30_000).verdict is Verdict.AGREES


# B4


def marked(
    card: str, host: str, np: str | None, sent: float = 0.0, marks: float = 200.0, seconds: range = range(0, 130, 10)
) -> list[Message]:
    names = ("RxECNMrkd", "cnpSent") if card == "E810" else ("np_ecn_marked_roce_packets", "np_cnp_sent")

    def counters(second: int) -> Fields:
        return {names[0]: grows(marks, 40)(second), names[1]: grows(sent)(second), **({"ecn_np_priorities": np} if np else {})}

    return [*samples(card, counters, seconds, host), *(senders(s, host, "10.0.2.1", own="10.0.1.1") for s in seconds)]


def handles(host: str, per_s: float, address: str, seconds: range = range(0, 130, 10)) -> list[Message]:
    return [
        *samples("CX-6 Dx", lambda second: {"rp_cnp_handled": grows(per_s)(second)}, seconds, host),
        *(senders(s, host, own=address) for s in seconds),
    ]


def test_marks_without_a_counted_notification_that_senders_handle_are_b4_within_three_samples() -> None:
    found = of(run([*marked("E810", "host01", None), *handles("host02", 80.0, "10.0.2.1")], Peers()), "B4")
    assert found
    first = found[0]
    assert (first["host"], first["severity"], first["hypotheses"], first["blast_radius"]) == ("host01", "warning", [], "rnic")
    assert first["evidence"][0]["signal"] == "unanswered_marks"
    assert second_of(first) == 60  # the marks begin after the sample at 40 s
    assert "Suspected" not in first["summary"]
    assert "known limitation of E810" in first["explanation"]
    assert "For the vendor" in first["explanation"]


def test_without_anybody_who_saw_the_notifications_b4_is_a_suspicion_or_nothing() -> None:
    alone = of(run(marked("CX-5", "host01", "3")), "B4")
    assert alone[0]["summary"].startswith("Suspected")
    assert "not known of this model" in alone[0]["explanation"]
    assert raised(run(marked("CX-5", "host01", None))) == set()


@pytest.mark.parametrize(
    "messages",
    [
        [*marked("CX-5", "host01", "none"), *handles("host02", 80.0, "10.0.2.1")],
        [*marked("E810", "host01", None, sent=20.0), *handles("host02", 80.0, "10.0.2.1")],
        [*marked("E810", "host01", None, marks=10.0), *handles("host02", 80.0, "10.0.2.1")],
        [*marked("E810", "host01", None), *handles("host02", 0.0, "10.0.2.1")],
        [*marked("E810", "host01", None), *handles("host03", 80.0, "10.0.3.1")],
        [*marked("E810", "host01", None), *handles("host02", 80.0, "10.0.2.1"), *marked("CX-5", "host04", "3", sent=80.0, marks=400.0)],
    ],
    ids=["NP off", "counter moves", "few marks", "senders handle none", "others handle them", "another receiver sent them"],
)
def test_what_is_not_b4(messages: list[Message]) -> None:
    assert "B4" not in raised(f for f in run(messages, Peers()) if f["host"] == "host01")


def test_b4_clears_when_the_counter_moves_again() -> None:
    def counters(second: int) -> Fields:
        return {"np_ecn_marked_roce_packets": second * 200, "np_cnp_sent": grows(30.0, 100)(second), "ecn_np_priorities": "3"}

    found = of(run(samples("CX-5", counters, range(0, 300, 10))), "B4")
    assert found[0]["state"] == "active"
    assert [f["state"] for f in found].count("cleared") == 1
    assert len({f["finding_id"] for f in found}) == 1


# B1


def classes(first: float, second: float, *, waits: float = 80_000.0, **more: int) -> Counters:
    """Gbit/s sent by two classes with half of a port of 100 Gbit/s each."""

    def counters(at: int) -> Fields:
        return {
            "ets_bandwidth": "50,50,0,0,0,0,0,0", "ets_algorithms": "ets,ets" + ",strict" * 6, "ets_priority_classes": "0,1,2,3,4,5,6,7",
            "tx_prio0_bytes": int(at * first * 1e9 / 8), "tx_prio1_bytes": int(at * second * 1e9 / 8), "port_xmit_wait": int(at * waits),
            "rp_cnp_handled": at * 400, "tx_gbps": first + second, **{name: at * each for name, each in more.items()},
        }  # fmt: skip

    return counters


def test_a_class_that_is_held_at_its_guarantee_while_another_leaves_its_own_is_b1() -> None:
    found = of(run(samples("CX-6 Dx", classes(9.0, 49.4), range(0, 100, 10))), "B1")
    assert second_of(found[0]) == 40  # the rates of three intervals, after the first sample with waiting data
    assert "41%" in found[0]["summary"]
    assert "known limitation of CX-6 Dx" in found[0]["explanation"]


@pytest.mark.parametrize(
    "counters",
    [classes(9.0, 64.0), classes(48.0, 50.0), classes(20.0, 30.0), classes(9.0, 49.4, waits=0.0), classes(9.0, 49.4, rx_pause_ctrl_phy=3)],
    ids=["it lends", "the port is full", "both are slowed", "nothing waits", "paused"],
)
def test_what_is_not_b1(counters: Counters) -> None:
    assert raised(run(samples("CX-6 Dx", counters, range(0, 200, 10)))) == set()


def test_without_the_counters_of_a_class_or_its_settings_b1_is_unknown() -> None:
    def dropped(*names: str) -> Counters:
        return lambda at: {k: v for k, v in classes(9.0, 49.4)(at).items() if k not in names}

    for names in (("tx_prio0_bytes",), ("ets_bandwidth",), ("port_xmit_wait",)):
        assert raised(run(samples("CX-6 Dx", dropped(*names), range(0, 200, 10)))) == set()


# B2


def stalled(**more: float) -> Counters:
    rates = {"rx_discards_phy": 60.0, "out_of_sequence": 40.0, "packet_seq_err": 30.0, "local_ack_timeout_err": 4.0, **more}
    return lambda at: {name: grows(per_s, 40)(at) for name, per_s in rates.items()}


def test_drops_with_room_and_innocents_that_time_out_are_b2_within_three_samples() -> None:
    found = of(run(samples("CX-4 Lx", stalled(), range(0, 200, 10))), "B2")
    assert second_of(found[0]) <= 70  # the trouble begins after the sample at 40 s
    assert {e["signal"] for e in found[0]["evidence"]} >= {"discards_per_s", "receive_share", "ack_timeouts_per_s"}


@pytest.mark.parametrize(
    ("card", "counters", "gbps"),
    [
        ("CX-4 Lx", stalled(), 95.0),
        ("CX-4 Lx", stalled(tx_prio3_pause=5.0), 20.0),
        ("CX-4 Lx", stalled(out_of_buffer=50.0), 20.0),
        ("CX-4 Lx", stalled(local_ack_timeout_err=0.0), 20.0),
        ("CX-4", stalled(), 20.0),
        ("CX-5", stalled(), 20.0),
    ],
    ids=["incast on the link", "incast in the buffer", "host buffers", "no innocents", "another card of the profile", "another model"],
)
def test_what_is_not_b2(card: str, counters: Counters, gbps: float) -> None:
    messages = samples(card, lambda at: {**counters(at), "rx_gbps": gbps}, range(0, 200, 10))
    assert "B2" not in raised(run(messages))


def test_b2_needs_every_counter_of_its_gates() -> None:
    for name in ("rx_discards_phy", "local_ack_timeout_err", "rate_gbps"):
        messages = [
            m._replace(fields={k: v for k, v in m.fields.items() if k != name}) for m in samples("CX-4 Lx", stalled(), range(0, 200, 10))
        ]
        assert "B2" not in raised(run(messages)), name


# B3


def starting(drops: int, connections: int, gbps: float = 20.0) -> Counters:
    """Every 60 s some connections start, and some packets are dropped."""
    return lambda at: {
        "rx_discards_phy": at // 60 * drops,
        "qps": 20 + at // 60 * connections,
        "rx_gbps": gbps,
        "out_of_sequence": at // 60,
    }


def receiver(card: str, counters: Counters, sender: str) -> list[Message]:
    seconds = range(0, 300, 10)
    return [
        *samples(card, counters, seconds), *(senders(s, "host01", "10.0.2.1", own="10.0.1.1") for s in seconds),
        *samples(sender, lambda at: {}, seconds, "host02"), *(senders(s, "host02", own="10.0.2.1") for s in seconds),
    ]  # fmt: skip


def test_drops_when_connections_of_the_other_model_start_are_b3() -> None:
    found = of(run(receiver("CX-5", starting(500, 24), "E810"), Peers()), "B3")
    assert second_of(found[0]) == 70  # the start is in the sample at 60 s; only the next one can deny other reasons
    assert len({f["finding_id"] for f in found}) == 1  # the starts of one job are one finding


@pytest.mark.parametrize(
    ("card", "counters", "sender"),
    [
        ("CX-5", starting(500, 24), "CX-5"),
        ("CX-6 Dx", starting(500, 24), "E810"),
        ("CX-5", starting(0, 24), "E810"),
        ("CX-5", starting(500, 0), "E810"),
        ("CX-5", starting(500, 24, gbps=97.0), "E810"),
    ],
    ids=["same model", "another receiver", "no drops", "no starts", "incast"],
)
def test_what_is_not_b3(card: str, counters: Counters, sender: str) -> None:
    assert "B3" not in raised(run(receiver(card, counters, sender), Peers()))


def test_without_knowing_the_senders_b3_is_unknown() -> None:
    messages = receiver("CX-5", starting(500, 24), "E810")
    assert "B3" not in raised(run(messages))
    assert "B3" not in raised(run([m for m in messages if m.tags["host"] == "host01"], Peers()))


# B8, and all of them


def test_timers_that_nobody_has_set_are_b8() -> None:
    counters = {"roce_adp_retrans": 6.0, "roce_adp_retrans_to": 2.0, "local_ack_timeout_err": 1.0}
    found = of(run(samples("CX-6 Dx", lambda at: {k: grows(v, 40)(at) for k, v in counters.items()}, range(0, 200, 10))), "B8")
    assert second_of(found[0]) <= 70
    negative = {**counters, "roce_adp_retrans_to": 0.0}
    assert "B8" not in raised(run(samples("CX-6 Dx", lambda at: {k: grows(v, 40)(at) for k, v in negative.items()}, range(0, 200, 10))))


def test_a_quiet_rnic_keeps_nothing_and_a_noisy_one_forgets() -> None:
    state: Any = None
    kept = []
    for message in samples("CX-4 Lx", lambda at: {"rx_discards_phy": min(max(at - 40, 0), 30)}, range(0, 400, 10)):
        state, _ = step(state, message)
        kept.append(state[PCI].engine is not None)
    assert kept[:5] == [False] * 5
    assert kept[6]
    assert not kept[-1]
    assert state[PCI].transport is None


def test_the_same_messages_give_the_same_findings() -> None:
    messages = [*marked("E810", "host01", None), *handles("host02", 80.0, "10.0.2.1")]
    assert run(messages, Peers()) == run(messages, Peers())


def test_a_reset_of_a_counter_raises_nothing() -> None:
    """Driver reloads set all counters to zero: whatever grew since is unknown for the first interval."""

    def counters(second: int) -> Fields:
        since = second % 30
        return {"np_ecn_marked_roce_packets": 900 * since, "np_cnp_sent": 0 if since else 7_000, "ecn_np_priorities": "3"}

    found = run(samples("CX-5", counters, range(0, 200, 30)))
    assert raised(found) == set()


def test_each_behaviour_names_where_it_is_seen() -> None:
    assert {b.id: b.seen_in for b in behaviours().values()} == {
        f"B{n}": "captures" if n in (6, 7) else "telemetry" for n in range(1, 9)
    }  # fmt: skip
    assert all(b.known_on and b.ticket and b.advice for b in behaviours().values())
