"""Captures that an adversary would try: damaged headers, doubled frames, READs in flight, two losses, reused QPs."""

import io
import struct
from dataclasses import asdict, replace

import pytest

from wallwatch.domain.transport.analysis import Options, analyse
from wallwatch.domain.transport.connections import packed_address
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_testing.roce_frames import RESPONSE_FIRST, RESPONSE_LAST, Conversation, Packet, Timed, block, interface, pcap, section

MIDDLE = 0x0E


def analysed(frames: list[Timed], options: Options | None = None, *, nanoseconds: bool = True) -> Analysis:
    report = ReadReport()
    return analyse(read_frames(io.BytesIO(pcap(frames, nanoseconds=nanoseconds)), report), report, options or Options())


def resent(result: Analysis) -> list[tuple[str, int, int]]:
    return [(found.kind, found.psn, found.frame_retransmission) for found in result.retransmissions]


def violations(result: Analysis) -> list[tuple[int, str]]:
    return [(found.frame, found.kind) for found in result.violations]


def responses(talk: Conversation, start: int, end: int, *, missing: tuple[int, ...] = ()) -> int:
    """Responses of one READ; returns the frame of the first."""
    first = 0
    for number in range(start, end):
        if number in missing:
            continue
        opcode = RESPONSE_FIRST if number == start else RESPONSE_LAST if number == end - 1 else MIDDLE
        frame = talk.response(number, opcode, size=1024)
        first = first or frame
    return first


@pytest.mark.parametrize("changes", [{"number": 4900}, {"number": -23}, {"number": 4}, {"qpn": 0x9999}, {"destination": "10.9.9.9"}])
def test_the_headers_of_a_damaged_packet_are_not_believed(changes: dict[str, object]) -> None:
    talk = Conversation(100)
    for number in range(4):
        talk.data(number)
    bad = talk.data(**{"number": 4, "icrc_error": 1, **changes})  # type: ignore[arg-type]
    for number in (5, 6):
        talk.data(number)
    nack = talk.nack(4)
    again = talk.data(4)
    for number in (5, 6, 7):
        talk.data(number)
    talk.answer(7)
    result = analysed(talk.frames)
    assert result.bad_icrc_frames == [bad]
    assert resent(result) == [("nack", 104, again)]
    assert (result.retransmissions[0].frame_trigger, result.retransmissions[0].frame_nack) == (bad + 1, nack)
    assert (result.violations, result.rc_qps, result.reordered, result.migreq_zero_qpns) == ([], 2, 0, [])


def test_frames_doubled_by_two_mirror_ports_may_be_interleaved() -> None:
    talk = Conversation()
    for number in range(0, 12, 3):
        for copy in range(2):
            for part in range(3):
                talk.data(number + part, after_ns=12 if part or copy else 900)
    talk.answer(11)
    result = analysed(talk.frames)
    assert (result.duplicate_frames, result.retransmissions, result.violations, result.reordered) == (12, [], [], 0)


def test_doubled_notifications_count_once_and_do_not_shorten_the_interval() -> None:
    talk = Conversation()
    for number in range(40):
        talk.data(number, after_ns=2000, tos=3)
        if number % 10 == 0:
            talk.cnp(1500)
            last = talk.frames[-1]
            packet = replace(
                Packet(source="10.0.0.2", destination="10.0.0.1", qpn=0x22, payload=bytes(16), opcode=0x81, migreq=0), ip_id=number + 1
            )
            talk.frames[-1:] = [Timed(last.time_ns, packet.frame()), Timed(last.time_ns + 7, packet.frame())]
    (point,) = analysed(talk.frames).notification_points
    assert (point.ce_marked, point.cnps) == (40, 4)
    assert point.min_interval_ns is not None
    assert point.min_interval_ns > 15_000


def test_requests_in_flight_that_are_repeated_after_the_lost_one_are_no_second_nack() -> None:
    talk = Conversation(9)
    for number in (0, 4, 8):
        talk.read(number, 4096, after_ns=100)
    responses(talk, 0, 4, missing=(2,))
    responses(talk, 4, 8)
    again = talk.read(2, 2048)
    talk.read(4, 4096, after_ns=100)
    talk.read(8, 4096, after_ns=100)
    first = responses(talk, 2, 4)
    responses(talk, 4, 8)
    responses(talk, 8, 12)
    talk.read(12, 1024)
    talk.response(12, 0x10, size=1024)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 11, first)]
    assert result.retransmissions[0].frame_nack == again
    assert result.violations == []


def test_only_the_rest_of_a_read_may_be_asked_for_again() -> None:
    talk = Conversation(0xFFFFFA)
    for number in (0, 4, 8):
        talk.read(number, 4096, after_ns=100)
    responses(talk, 0, 4, missing=(2,))
    again = talk.read(2, 2048)
    first = responses(talk, 2, 4)
    responses(talk, 4, 8)
    responses(talk, 8, 12)
    talk.read(12, 2048)
    responses(talk, 12, 14)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 0xFFFFFC, first)]
    assert result.retransmissions[0].frame_nack == again
    assert result.violations == []


def test_all_responses_of_the_first_read_are_lost() -> None:
    talk = Conversation()
    talk.read(0, 4096)
    talk.read(4, 4096)
    trigger = responses(talk, 4, 8)
    again = talk.read(0, 4096)
    talk.read(4, 4096)
    first = responses(talk, 0, 4)
    responses(talk, 4, 8)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 0, first)]
    assert (result.retransmissions[0].frame_nack, result.retransmissions[0].frame_trigger) == (again, trigger)
    assert result.violations == []


def test_a_read_whose_last_response_is_lost_is_repeated_by_the_timer() -> None:
    talk = Conversation()
    talk.read(0, 4096)
    responses(talk, 0, 4)  # the last one is captured and lost behind the mirror
    talk.read(3, 1024, after_ns=70_000_000)
    again = talk.response(3, 0x10, size=1024)
    result = analysed(talk.frames)
    assert resent(result) == [("timeout", 3, again)]
    assert result.violations == []


def test_a_read_request_lost_on_the_way_is_a_timeout_of_the_request() -> None:
    talk = Conversation()
    talk.read(0, 4096)
    again = talk.read(0, 4096, after_ns=70_000_000)
    responses(talk, 0, 4)
    result = analysed(talk.frames)
    assert resent(result) == [("timeout", 0, again)]
    assert result.violations == []


def test_writes_behind_a_read_that_is_repeated_are_repeated_with_it() -> None:
    talk = Conversation()
    talk.read(0, 4096)
    talk.data(4)
    talk.data(5)
    responses(talk, 0, 4, missing=(1,))
    talk.read(1, 3072)
    talk.data(4)
    talk.data(5)
    first = responses(talk, 1, 4)
    talk.answer(5)
    talk.data(6)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 1, first)]
    assert result.violations == []


@pytest.mark.parametrize("captured", [True, False])
def test_two_losses_in_one_window_make_two_retransmissions(captured: bool) -> None:
    talk = Conversation(7)
    for number in range(8):
        if captured or number not in (2, 5):
            talk.data(number)
    talk.nack(2)
    one = talk.data(2)
    for number in (3, 4, 5, 6, 7) if captured else (3, 4, 6, 7):
        talk.data(number)
    talk.nack(5)
    two = talk.data(5)
    for number in (6, 7, 8):
        talk.data(number)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 9, one), ("nack", 12, two)]
    assert result.violations == []
    assert result.reordered == 0


def test_a_nack_between_late_packets_names_the_next_missing_one() -> None:
    talk = Conversation()
    for number in (0, 1, 3, 5, 2):
        talk.data(number)
    talk.nack(4)
    again = talk.data(4, after_ns=2500)
    for number in (5, 6, 7):
        talk.data(number)
    result = analysed(talk.frames)
    assert resent(result) == [("nack", 4, again)]
    assert (result.violations, result.reordered) == ([], 1)


def test_a_reused_qp_number_begins_a_new_connection() -> None:
    old, new = Conversation(9_000_000), Conversation(400)
    new.now = old.now + 10**9
    for number in range(5):
        old.data(number)
        old.answer(number)
    for number in range(5):
        new.data(number)
        new.answer(number)
    result = analysed(old.frames + new.frames)
    assert (result.retransmissions, result.violations, result.reordered) == ([], [], 0)


def test_timeouts_of_equal_qp_numbers_on_two_hosts_are_kept_apart() -> None:
    one, other = Conversation(), Conversation(requester="10.0.0.3", responder="10.0.0.4")
    for talk, wait in ((one, 68_000_000), (other, 5_000_000)):
        talk.data(0)
        talk.data(0, after_ns=wait)
    frames = sorted(one.frames + other.frames, key=lambda frame: frame.time_ns)
    result = analysed(frames)
    assert sorted((row.intervals_ns, row.below_minimum) for row in result.timeouts) == [([5_000_000], True), ([68_000_000], False)]


def test_a_wait_of_exactly_the_minimum_is_not_below_it_on_a_coarse_clock() -> None:
    talk = Conversation()
    talk.data(0)
    talk.data(0, after_ns=67_108_864)
    (row,) = analysed(talk.frames, nanoseconds=False).timeouts
    assert row.intervals_ns[0] < row.specification_minimum_ns
    assert row.below_minimum is False


def lumina(number: int, time: int, packet: Packet, event: int = 0) -> Timed:
    frame = replace(packet, ttl=event).frame()
    return Timed(1_700_000_000_000_000_000, time.to_bytes(6) + number.to_bytes(6) + frame[12:])


def test_lumina_events_say_what_was_lost_and_marked() -> None:
    data = Packet(payload=bytes(64))
    back = Packet(source="10.0.0.2", destination="10.0.0.1", qpn=0x22, payload=b"", opcode=0x11)
    nak = replace(back, extension=b"\x60\0\0\0")
    plan = [(data, 0, 0), (data, 1, 2), (data, 2, 1), (data, 3, 1), (data, 4, 0), (data, 5, 0), (nak, 2, 0)]
    plan += [(data, psn, 3 if psn == 4 else 0) for psn in (2, 3, 4, 5)]
    plan += [(nak, 4, 0), (data, 4, 0), (data, 5, 0)]
    frames = [lumina(n, 1_000_000 + 1000 * n, replace(packet, psn=psn), event) for n, (packet, psn, event) in enumerate(plan, 1)]
    result = analysed(frames, Options(mirrored=True))
    assert resent(result) == [("nack", 2, 8), ("nack", 4, 13)]
    assert [found.frame_trigger for found in result.retransmissions] == [5, 11]
    assert [found.nack_generation_ns for found in result.retransmissions] == [2000, 1000]
    assert [point.ce_marked for point in result.notification_points] == [1]
    assert result.violations == []
    shuffled = [frames[place] for place in (3, 0, 1, 2, 7, 5, 6, 4, *range(8, 14))]
    other = analysed(shuffled, Options(mirrored=True))
    assert [(found.kind, found.psn) for found in other.retransmissions] == [("nack", 2), ("nack", 4)]
    assert [found.frame_retransmission for found in other.retransmissions] == [5, 13]
    assert other.mirror is not None
    assert (other.mirror["complete"], other.mirror["out_of_order"]) == (True, 3)


def test_a_rewritten_port_leaves_the_icrc_of_the_original() -> None:
    frames = []
    for number in range(5):
        frame = bytearray(Packet(psn=number, icrc_error=number == 3).frame())
        frame[36:38] = (9741).to_bytes(2)
        frames.append(Timed(10**18 + number * 1000, bytes(frame)))
    result = analysed(frames, Options(port=9741))
    assert (result.roce, result.bad_icrc_frames) == (5, [4])


@pytest.mark.parametrize(("given", "generation", "reaction"), [(4000, 500, 1000), (None, 500, 1000), (100_000, 0, 0)])
def test_half_a_round_trip_is_subtracted_and_the_raw_figures_stay(given: int | None, generation: int, reaction: int) -> None:
    talk = Conversation()
    talk.data(0)
    talk.answer(0, after_ns=2000)
    for number in (1, 3):
        talk.data(number)
    talk.nack(2, after_ns=2500)
    again = talk.data(2, after_ns=3000)
    talk.data(3)
    result = analysed(talk.frames, Options(rtt_ns=given))
    (found,) = result.retransmissions
    assert (found.nack_generation_ns, found.nack_reaction_ns) == (2500, 3000)
    assert (result.half_rtt.rtt_ns, result.half_rtt.source) == (given or 4000, "estimated" if given is None else "given")
    assert asdict(result.half_rtt)["corrected"] == [
        {"frame_retransmission": again, "nack_generation_ns": generation, "nack_reaction_ns": reaction}
    ]


def test_a_given_connection_is_not_inferred() -> None:
    one, other = Conversation(10), Conversation(10, qpns=(0x33, 0x44))
    for number in range(5):
        one.data(number)
        other.data(number, after_ns=1001)
    # The answers of `one` come to the QP that `other` would be given by its times.
    other.nack(2)
    again = other.data(2)
    for number in (3, 4):
        other.data(number)
    frames = sorted(one.frames + other.frames, key=lambda frame: frame.time_ns)
    ends = (packed_address("10.0.0.1"), 0x44), (packed_address("10.0.0.2"), 0x33)
    result = analysed(frames, Options(pairs={ends[0]: ends[1], ends[1]: ends[0]}))
    assert [(found.qpn, found.kind) for found in result.retransmissions] == [(0x33, "nack")]
    assert frames[result.retransmissions[0].frame_retransmission - 1] is other.frames[again - 1]
    assert result.unpaired_directions == 1


def test_the_table_of_queue_pairs_counts_what_was_wasted() -> None:
    talk = Conversation()
    for number in (0, 1, 3, 4):
        talk.data(number)
    talk.nack(2)
    for number in (2, 3, 4, 5):
        talk.data(number, tos=3)
    talk.cnp()
    (row,) = analysed(talk.frames).qps
    assert (row.verbs, row.packets, row.retransmissions, row.wasted) == (["WRITE"], 8, 1, 2)
    assert (row.ce_marked, row.cnps, row.useful_share) == (4, 1, 5 / 8)
    assert row.nack_reaction is not None
    assert row.nack_reaction.p50_ns == 1000


def lost_before_the_capture_point(first: int = 100) -> Conversation:
    """The sixth packet is lost, refused in frame 9, and sent again in frame 11."""
    talk = Conversation(first)
    for number in (0, 1, 2, 3, 4, 6, 7, 8):
        talk.data(number)
    talk.nack(5)
    for number in (9, *range(5, 12)):
        talk.data(number)
    talk.answer(11)
    return talk


@pytest.mark.parametrize(("skipped", "trigger"), [(0, 6), (4, 2), (6, 1), (8, None)])
def test_a_capture_may_begin_anywhere_before_the_reaction_to_a_nack(skipped: int, trigger: int | None) -> None:
    result = analysed(lost_before_the_capture_point().frames[skipped:])
    (found,) = result.retransmissions
    assert (found.kind, found.psn, found.frame_nack, found.frame_retransmission) == ("nack", 105, 9 - skipped, 11 - skipped)
    assert (found.frame_trigger, found.nack_reaction_ns) == (trigger, 2000)
    assert result.violations == []


def test_frames_without_a_time_are_not_taken_for_mirrored_twice() -> None:
    frames = lost_before_the_capture_point().frames
    simple = b"".join(block(3, struct.pack("<I", len(frame.data)) + frame.data) for frame in frames)
    report = ReadReport()
    result = analyse(read_frames(io.BytesIO(section() + interface() + simple), report), report, Options())
    assert (resent(result), result.violations, result.duplicate_frames) == ([("nack", 105, 11)], [], 0)
