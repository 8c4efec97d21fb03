"""Each retransmission, latency and violation of hand-built conversations is found, and nothing else."""

import io

import pytest

from wallwatch.domain.transport.analysis import analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_testing.roce_frames import RESPONSE_FIRST, RESPONSE_LAST, RNR_NAK, Conversation, pcap

STARTS = [0, 1000, 0xFFFFFF - 4]
"""The last one wraps to 0 within the conversation."""


def analysed(content: bytes) -> Analysis:
    report = ReadReport()
    return analyse(read_frames(io.BytesIO(content), report), report)


def of(*conversations: Conversation) -> Analysis:
    return analysed(pcap([frame for one in conversations for frame in one.frames]))


def quiet(result: Analysis) -> bool:
    return result.conforms and not result.retransmissions and not result.reordered and not result.duplicate_frames


@pytest.mark.parametrize("first", STARTS)
def test_a_clean_transfer_has_no_findings(first: int) -> None:
    talk = Conversation(first)
    for number in range(20):
        talk.data(number)
        if number % 4 == 3:
            talk.answer(number)
    result = of(talk)
    assert quiet(result)
    assert (result.frames, result.roce, result.cut, result.icrc, result.rc_qps) == (25, 25, 0, "ok", 2)
    assert result.unpaired_directions == 0


@pytest.mark.parametrize("first", STARTS)
@pytest.mark.parametrize("lost_is_captured", [True, False])
def test_a_loss_is_found_with_its_frames_and_latencies(first: int, lost_is_captured: bool) -> None:
    talk = Conversation(first)
    for number in range(3):
        talk.data(number)
    if lost_is_captured:
        talk.data(3)
    trigger = talk.data(4)
    talk.data(5, after_ns=300)
    nack = talk.nack(3, after_ns=1700)
    talk.data(6, after_ns=500)
    resent = talk.data(3, after_ns=2500)
    for number in range(4, 10):
        talk.data(number)
    talk.answer(9)
    result = of(talk)
    (found,) = result.retransmissions
    assert (found.kind, found.psn, found.qpn, found.iteration) == ("nack", (first + 3) % (1 << 24), 0x11, 2)
    assert (found.frame_trigger, found.frame_nack, found.frame_retransmission) == (trigger, nack, resent)
    assert (found.nack_generation_ns, found.nack_reaction_ns) == (2000, 3000)
    assert result.conforms
    assert not result.reordered


@pytest.mark.parametrize("first", STARTS)
def test_timeouts_are_listed_with_their_waits_against_the_minimum(first: int) -> None:
    talk = Conversation(first)
    for number in range(4):
        talk.data(number)
    for wait in (5_600_000, 4_100_000, 134_200_000):
        talk.data(3, after_ns=wait)
    talk.answer(3)
    result = of(talk)
    assert [(found.kind, found.iteration, found.frame_nack) for found in result.retransmissions] == [
        ("timeout", n, None) for n in (2, 3, 4)
    ]
    (timeouts,) = result.timeouts
    assert timeouts.intervals_ns == [5_600_000, 4_100_000, 134_200_000]
    assert (timeouts.specification_minimum_ns, timeouts.below_minimum) == (67_108_864, True)


def test_late_packets_are_reordering_and_no_retransmission() -> None:
    talk = Conversation(100)
    for number in (0, 1, 3, 4, 5, 2, 6, 8, 7, 9, 11, 12, 10, 13):
        talk.data(number, after_ns=500)
    talk.answer(13)
    result = of(talk)
    assert (result.reordered, result.reorder_distance) == (3, 3)
    assert result.conforms
    assert not result.retransmissions


def test_a_late_packet_that_crossed_its_nack_is_followed_by_a_spurious_retransmission() -> None:
    talk = Conversation()
    for number in (0, 1, 3):
        talk.data(number)
    talk.nack(2)
    talk.data(2)
    talk.data(4)
    resent = talk.data(2)
    for number in (3, 4, 5):
        talk.data(number)
    result = of(talk)
    assert [(found.kind, found.frame_retransmission) for found in result.retransmissions] == [("nack", resent)]
    assert (result.reordered, result.conforms) == (1, True)


@pytest.mark.parametrize("lost_is_captured", [True, False])
def test_a_selective_resend_violates_go_back_n(lost_is_captured: bool) -> None:
    talk = Conversation()
    for number in range(8):
        if number != 3 or lost_is_captured:
            talk.data(number)
    talk.nack(3)
    resent = talk.data(3)
    wrong = talk.data(8)
    talk.data(9)
    result = of(talk)
    assert [(found.kind, found.frame, found.qpn) for found in result.violations] == [("not_go_back_n", wrong, 0x11)]
    assert [found.frame_retransmission for found in result.retransmissions] == [resent]


def test_a_resend_from_the_wrong_packet_violates_go_back_n() -> None:
    talk = Conversation()
    for number in range(8):
        talk.data(number)
    talk.nack(3)
    wrong = talk.data(5)
    for number in range(6, 9):
        talk.data(number)
    assert [(found.kind, found.frame) for found in of(talk).violations] == [("not_go_back_n", wrong)]


def test_violations_of_the_receiver_are_found_at_their_frames() -> None:
    talk = Conversation()
    for number in (0, 1, 2, 4, 5):
        talk.data(number)
    talk.answer(2)
    backwards = talk.answer(1)
    talk.nack(3)
    second = talk.nack(3, after_ns=5000)
    for number in (3, 4, 5, 6, 8):
        talk.data(number)
    wrong = talk.nack(8)
    result = of(talk)
    assert [(found.frame, found.kind) for found in result.violations] == [
        (backwards, "ack_goes_back"),
        (second, "second_nack_in_flight"),
        (wrong, "nack_wrong_psn"),
    ]


@pytest.mark.parametrize(("later", "violates"), [(80, True), (20, False)])
def test_a_gap_without_nack_until_the_timeout_is_a_violation_after_64_packets(later: int, violates: bool) -> None:
    talk = Conversation()
    talk.data(0)
    gap = talk.data(2)
    for number in range(3, later):
        talk.data(number)
    for number in range(1, later):
        talk.data(number, after_ns=70_000_000 if number == 1 else 1000)
    result = of(talk)
    assert [found.kind for found in result.retransmissions] == ["timeout"]
    assert [(found.frame, found.kind) for found in result.violations] == ([(gap, "no_nack_after_gap")] if violates else [])


@pytest.mark.parametrize("first", STARTS)
@pytest.mark.parametrize("lost_is_captured", [True, False])
def test_a_repeated_read_request_is_the_nack_of_its_responses(first: int, lost_is_captured: bool) -> None:
    talk = Conversation(first)
    talk.read(0, 256 * 8)
    for number in range(8):
        if number != 3 or lost_is_captured:
            talk.response(number, RESPONSE_FIRST if number == 0 else RESPONSE_LAST if number == 7 else 0x0E)
    trigger = 5 if not lost_is_captured else 6
    again = talk.read(3, 256 * 5, after_ns=150_000)
    resent = talk.response(3, RESPONSE_FIRST, after_ns=4000)
    for number in range(4, 8):
        talk.response(number, RESPONSE_LAST if number == 7 else 0x0E)
    talk.read(8, 256 * 2)
    talk.response(8, RESPONSE_FIRST)
    talk.response(9, RESPONSE_LAST)
    result = of(talk)
    (found,) = result.retransmissions
    assert (found.kind, found.psn, found.qpn) == ("nack", (first + 3) % (1 << 24), 0x22)
    assert (found.frame_trigger, found.frame_nack, found.frame_retransmission) == (trigger, again, resent)
    assert found.nack_reaction_ns == 4000
    assert result.conforms


def test_reads_between_writes_leave_no_gap() -> None:
    talk = Conversation(5)
    talk.data(0)
    talk.read(1, 1024 * 3)
    talk.data(4)
    talk.read(5, 1024)
    talk.data(6)
    for number in (1, 2, 3):
        talk.response(number, 0x0D + number - 1, size=1024)
    talk.answer(4)
    talk.response(5, 0x10, size=1024)
    talk.answer(6)
    assert quiet(of(talk))


def test_a_resend_after_receiver_not_ready_is_no_loss() -> None:
    talk = Conversation()
    for number in range(4):
        talk.data(number)
    talk.answer(2, RNR_NAK)
    for number in range(2, 6):
        talk.data(number, after_ns=700_000 if number == 2 else 1000)
    result = of(talk)
    assert quiet(result)
    assert result.rnr_resends == 1


def test_a_packet_with_a_wrong_icrc_counts_as_lost() -> None:
    talk = Conversation()
    talk.data(0)
    bad = talk.data(1, icrc_error=0x100)
    trigger = talk.data(2)
    talk.nack(1)
    talk.data(1)
    talk.data(2)
    result = of(talk)
    assert (result.icrc, result.bad_icrc_frames) == ("bad", [bad])
    assert [found.frame_trigger for found in result.retransmissions] == [trigger]
    assert result.conforms


def test_frames_mirrored_twice_are_counted_once() -> None:
    talk = Conversation()
    for number in range(5):
        talk.data(number)
        talk.data(number, after_ns=8)
    result = of(talk)
    assert (result.duplicate_frames, result.retransmissions, result.conforms) == (5, [], True)


def test_connections_with_the_same_qp_numbers_on_other_hosts_are_kept_apart() -> None:
    one, other = Conversation(10), Conversation(5000, requester="10.0.0.3", responder="10.0.0.4")
    for number in range(6):
        for talk in (one, other):
            talk.data(number)
            talk.answer(number)
    merged = sorted(one.frames + other.frames, key=lambda frame: frame.time_ns)
    result = analysed(pcap(merged))
    assert quiet(result)
    assert (result.rc_qps, result.unpaired_directions) == (4, 0)


def test_qps_without_migreq_are_listed_and_their_cnps_are_not() -> None:
    talk = Conversation()
    talk.data(0, migreq=0)
    talk.cnp()
    assert of(talk).migreq_zero_qpns == [0x11]
