"""What a capture shows decides what may be believed: acknowledgements that cross, losses before the first packet, resends cut short."""

import io
import random
from dataclasses import replace

import pytest

from wallwatch.domain.transport.analysis import analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_testing.roce_frames import CE, CNP, Conversation, Packet, Timed, pcap


def analysed(frames: list[Timed], *, link_type: int = 1) -> Analysis:
    report = ReadReport()
    return analyse(read_frames(io.BytesIO(pcap(frames, link_type=link_type)), report), report)


def resent(result: Analysis) -> list[tuple[str, int, int]]:
    return [(found.kind, found.psn, found.frame_retransmission) for found in result.retransmissions]


def violations(result: Analysis) -> list[tuple[int, str]]:
    return [(found.frame, found.kind) for found in result.violations]


def test_an_acknowledgement_between_the_first_two_packets_of_a_resend_keeps_its_nack() -> None:
    talk = Conversation()
    for number in (0, 1):
        talk.data(number)
        talk.answer(number)
    trigger = talk.data(3)
    talk.data(4)
    nack = talk.nack(2)
    again = talk.data(2, after_ns=3000)
    talk.answer(2, after_ns=900)
    talk.data(3, after_ns=100)
    talk.answer(3)
    talk.data(4)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 2, again)]
    assert (result.retransmissions[0].frame_nack, result.retransmissions[0].frame_trigger) == (nack, trigger)


def test_a_sender_may_leave_out_what_an_acknowledgement_covers_after_a_needless_timeout() -> None:
    talk = Conversation()
    for number in range(4):
        talk.data(number)
    # The acknowledgement of 3 is lost.
    again = talk.data(0, after_ns=70_000_000)
    talk.answer(3)
    for number in (4, 5):
        talk.data(number)
    result = analysed(talk.frames)
    assert resent(result) == [("timeout", 0, again)]
    assert violations(result) == []


def test_a_receiver_that_acknowledges_past_a_loss_does_not_excuse_a_selective_resend() -> None:
    talk = Conversation()
    for number in (0, 1, 3, 4):
        talk.data(number)
    talk.data(2, after_ns=70_000_000)
    talk.data(3)
    talk.answer(4)
    wrong = talk.data(5)
    assert violations(analysed(talk.frames)) == [(wrong, "not_go_back_n")]


@pytest.mark.parametrize("more_lost", [False, True])
def test_the_first_packets_of_a_connection_may_be_lost_before_the_capture(more_lost: bool) -> None:
    talk = Conversation(0xFFFFFE)
    trigger = talk.data(1)
    for number in (2, 3, 5) if more_lost else (2, 3, 4, 5):
        talk.data(number)
    nack = talk.nack(0)
    again = talk.data(0, after_ns=3000)
    for number in range(1, 6):
        talk.data(number)
    talk.answer(5)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 0xFFFFFE, again)]
    assert (result.retransmissions[0].frame_nack, result.retransmissions[0].frame_trigger) == (nack, trigger)
    assert (violations(result), result.unpaired_directions) == ([], 0)


def test_a_packet_lost_behind_the_capture_point_may_be_refused_before_a_damaged_one() -> None:
    talk = Conversation()
    for number in range(6):
        talk.data(number, icrc_error=9 if number == 3 else 0)
    talk.nack(1)
    again = talk.data(1)
    for number in range(2, 6):
        talk.data(number)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 1, again)]
    assert violations(result) == []


@pytest.mark.parametrize("captured", [True, False])
def test_a_packet_left_out_of_a_resend_violates_go_back_n_where_losses_are_captured(captured: bool) -> None:
    talk = Conversation()
    for number in range(8):
        if captured or number != 2:
            talk.data(number)
    talk.nack(2)
    talk.data(2)
    talk.data(3)
    skipped = talk.data(5)
    for number in (6, 7):
        talk.data(number)
    assert violations(analysed(talk.frames)) == ([(skipped, "not_go_back_n")] if captured else [])


def test_the_distance_of_a_late_packet_is_counted_when_it_comes() -> None:
    talk = Conversation()
    for number in (0, 2):
        talk.data(number)
    talk.nack(1)
    talk.data(1, after_ns=100)
    for number in (3, 4, 1, 2, 3, 4):
        talk.data(number)
    result = analysed(talk.frames)
    assert (result.reordered, result.reorder_distance) == (1, 1)


@pytest.mark.parametrize("sent_again", [True, False])
def test_a_packet_before_the_first_one_is_late_or_sent_again(sent_again: bool) -> None:
    talk = Conversation(0xFFFFFD)
    for number in (1, 2, 4):
        talk.data(number)
    early = talk.data(0, after_ns=70_000_000 if sent_again else 300)
    for number in (1, 2, 3, 4) if sent_again else (3, 5, 6):
        talk.data(number)
    talk.answer(4 if sent_again else 6)
    result = analysed(talk.frames)
    assert resent(result) == ([("timeout", 0xFFFFFD, early)] if sent_again else [])
    assert (result.reordered, result.reorder_distance) == ((0, 0) if sent_again else (2, 4))
    assert violations(result) == []


def test_sends_that_invalidate_a_key_are_data() -> None:
    talk = Conversation()
    for number, opcode in enumerate((0x00, 0x01, 0x16, 0x17, 0x17)):
        talk.data(number, opcode=opcode, extension=bytes(4) if opcode > 1 else b"")
    talk.answer(4)
    result = analysed(talk.frames)
    assert (resent(result), violations(result), result.rc_qps, result.unpaired_directions) == ([], [], 2, 0)
    assert [row.verbs for row in result.qps] == [["SEND"]]


def test_connections_with_equal_psns_are_paired_by_who_goes_back() -> None:
    one, other = (Conversation(qpns=(0x11 + n, 0x22 + n)) for n in range(2))
    other.now += 500
    for number in range(20):
        one.data(number, after_ns=300)
        other.data(number, after_ns=300)
    one.nack(4)
    other.nack(0, after_ns=9000)
    for talk, first in ((one, 4), (other, 0)):
        for number in range(first, 20):
            talk.data(number, after_ns=200_000 if number == first else 300)
            if talk is other and number % 4 == 3:
                # The first answer that fits both, the last packet of neither.
                talk.answer(number - 2, after_ns=10)
    result = analysed(sorted(one.frames + other.frames, key=lambda frame: frame.time_ns))
    assert sorted((found.qpn, found.kind, found.psn) for found in result.retransmissions) == [(0x11, "nack", 4), (0x12, "nack", 0)]
    assert violations(result) == []


def ipv6(extension: bytes, kind: int) -> bytes:
    """A packet with one more IPv6 header before UDP; its ICRC is that of a packet without, so it is wrong."""
    packet = Packet(source="fd00::1", destination="fd00::2").ip()
    chain = bytes([17]) + extension
    length = int.from_bytes(packet[4:6]) + len(chain)
    return packet[:4] + length.to_bytes(2) + bytes([kind]) + packet[7:40] + chain + packet[40:]


@pytest.mark.parametrize(
    ("extension", "kind", "decoded"),
    [
        (bytes(7), 44, 1),  # a fragment header of the only fragment
        (bytes([0, 0, 1, 0, 0, 0, 0]), 44, 0),  # more follow
        (bytes([4]) + bytes(22), 51, 1),
    ],
)
def test_ipv6_fragment_and_authentication_headers(extension: bytes, kind: int, decoded: int) -> None:
    ethernet = bytes(12) + b"\x86\xdd" + ipv6(extension, kind)
    assert analysed([Timed(0, ethernet)]).roce == decoded


@pytest.mark.parametrize(("link_type", "head"), [(12, b""), (14, b""), (0, b"\x02\0\0\0"), (0, b"\0\0\0\x02"), (108, b"\0\0\0\x02")])
def test_raw_and_loopback_links(link_type: int, head: bytes) -> None:
    result = analysed([Timed(0, head + Packet().ip())], link_type=link_type)
    assert (result.roce, result.icrc) == (1, "ok")


def marked(scope: str, interval_ns: int, *, acknowledged: bool) -> list[Timed]:
    """Twelve connections of four hosts, every packet marked, so that marks come within the receiver's delay."""
    chooser = random.Random(7)
    last: dict[object, int] = {}
    now, frames = 10**18, []
    for number in range(3000):
        now += chooser.randrange(150, 450)
        sender, queue = chooser.randrange(4), chooser.randrange(3)
        here = Packet(source=f"10.0.0.{sender + 1}", destination="10.0.0.9", qpn=0x100 + 3 * sender + queue, psn=number, tos=CE)
        frames.append(Timed(now, here.frame()))
        back = Packet(source="10.0.0.9", destination=here.source, qpn=0x200 + here.qpn, psn=number, payload=b"", opcode=0x11)
        if acknowledged:
            frames.append(Timed(now + 400, replace(back, extension=b"\x1f\0\0\0").frame()))
        key = {"per_port": 0, "per_destination": sender, "per_qp": here.qpn}[scope]
        if now - last.get(key, 0) >= interval_ns:
            last[key] = now
            frames.append(Timed(now + 1500, replace(back, opcode=CNP, psn=0, payload=bytes(16), migreq=0).frame()))
    return sorted(frames, key=lambda frame: frame.time_ns)


@pytest.mark.parametrize("scope", ["per_port", "per_destination", "per_qp"])
@pytest.mark.parametrize("acknowledged", [True, False])
def test_the_scope_is_found_although_marks_come_faster_than_the_receiver_answers(scope: str, acknowledged: bool) -> None:
    (point,) = analysed(marked(scope, 4000, acknowledged=acknowledged)).notification_points
    assert point.mode == scope
    assert point.min_interval_ns is not None
    assert 4000 <= point.min_interval_ns < 4000 + 40 * 450
