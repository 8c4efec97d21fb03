"""Every container and encapsulation yields the same analysis; damage is reported and never fatal."""

import gzip
import io
import random
import struct

import pytest

from wallwatch.domain.transport.analysis import Options, analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import CaptureError, ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_testing import roce_frames
from wallwatch_testing.roce_frames import Conversation, Packet, Timed, ethernet, geneve, pcap, pcapng, sll, sll2, vxlan

TIME = 1_700_000_000_000_000_000


def analysed(content: bytes, *, port: int | None = 4791, mirrored: bool = False) -> Analysis:
    report = ReadReport()
    return analyse(read_frames(io.BytesIO(content), report), report, Options(port=port, mirrored=mirrored))


def times(content: bytes) -> list[int]:
    return [time for block in read_frames(io.BytesIO(content), ReadReport()) for time in block.time_ns.tolist()]


def lossy() -> list[Timed]:
    talk = Conversation(0xFFFFFE)
    for number in (0, 1, 3, 4):
        talk.data(number)
    talk.nack(2)
    for number in (2, 3, 4):
        talk.data(number, after_ns=4000)
    talk.answer(4)
    return talk.frames


def assert_lossy(result: Analysis, generation: int = 3000) -> None:
    (found,) = result.retransmissions
    assert (found.frame_trigger, found.frame_nack, found.frame_retransmission) == (3, 5, 6)
    assert (found.nack_generation_ns, found.nack_reaction_ns) == (generation, 4000)
    assert (result.frames, result.roce, result.icrc, result.conforms) == (9, 9, "ok", True)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_pcap_in_both_byte_orders_and_resolutions(order: str, nanoseconds: bool, compressed: bool) -> None:
    content = pcap(lossy(), order=order, nanoseconds=nanoseconds)
    result = analysed(gzip.compress(content) if compressed else content)
    assert_lossy(result)
    assert result.resolution_ns == (1 if nanoseconds else 1000)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_in_both_byte_orders(order: str) -> None:
    assert_lossy(analysed(pcapng(lossy(), order)))
    assert_lossy(analysed(gzip.compress(pcapng(lossy(), order))))


@pytest.mark.parametrize(
    ("resolution", "ticks", "expected"),
    [
        (9, 1_234_567_891, 1_234_567_891),
        (6, 1_234_567, 1_234_567_000),
        (None, 1_234_567, 1_234_567_000),
        (3, 1_234, 1_234_000_000),
        (12, 1_234_567_891_999, 1_234_567_891),
        (0x80 | 10, 1024 + 512, 1_500_000_000),
        (0, 7, 7_000_000_000),
    ],
)
def test_pcapng_clocks_decimal_and_binary(resolution: int | None, ticks: int, expected: int) -> None:
    frame = Timed(0, Packet().frame())
    start = roce_frames.section() + roce_frames.interface(resolution=resolution, offset=2)
    assert times(start + roce_frames.enhanced(frame, ticks)) == [expected + 2_000_000_000]


def test_pcapng_with_several_sections_and_interfaces_of_different_resolutions() -> None:
    frames = lossy()
    first = roce_frames.section("<") + roce_frames.interface("<", resolution=9) + roce_frames.interface("<", resolution=6)
    second = roce_frames.section(">") + roce_frames.interface(">", resolution=6)
    unknown = roce_frames.block(0x0BAD, b"whatever")
    content = first + unknown
    for place, frame in enumerate(frames[:5]):
        on_second = place % 2
        ticks = frame.time_ns // (1000 if on_second else 1)
        content += roce_frames.enhanced(Timed(frame.time_ns, frame.data, interface=on_second), ticks)
    content += second + b"".join(roce_frames.enhanced(frame, frame.time_ns // 1000, ">") for frame in frames[5:])
    result = analysed(content)
    assert_lossy(result)
    assert sum(result.notes.values()) == 1
    assert result.resolution_ns == 1000


@pytest.mark.parametrize("options", [b"", bytes([1, 1, 1, 1]), bytes([1] * 40)])
def test_ip_options_do_not_hide_the_packet(options: bytes) -> None:
    result = analysed(pcap([Timed(TIME, Packet(ip_options=options).frame())]))
    assert (result.roce, result.icrc) == (1, "ok")


@pytest.mark.parametrize("extensions", [1, 2, 5])
def test_ipv6_extension_headers_are_walked(extensions: int) -> None:
    packet = Packet(source="2001:db8::1", destination="2001:db8::2", ipv6_extensions=extensions)
    result = analysed(pcap([Timed(TIME, packet.frame()), Timed(TIME + 5000, vxlan(packet.frame()))]))
    assert (result.roce, result.icrc, result.rc_qps) == (2, "ok", 2)


@pytest.mark.parametrize("vlans", [(), (5,), (5, 6), (1, 2, 3)])
@pytest.mark.parametrize("version", [4, 6])
def test_vlan_stacks_over_both_ip_versions(vlans: tuple[int, ...], version: int) -> None:
    packet = Packet() if version == 4 else Packet(source="2001:db8::1", destination="2001:db8::2", tos=0x6B)
    result = analysed(pcap([Timed(TIME, ethernet(packet.ip(), vlans))]))
    assert (result.roce, result.icrc, result.rc_qps, result.vxlan_qps) == (1, "ok", 1, 0)
    assert [point.ce_marked for point in result.notification_points] == ([] if version == 4 else [1])


@pytest.mark.parametrize(("wrap", "link_type"), [(sll, 113), (sll2, 276), (bytes, 101)])
def test_linux_cooked_and_raw_captures(wrap: object, link_type: int) -> None:
    assert callable(wrap)
    result = analysed(pcap([Timed(TIME, wrap(Packet().ip()))], link_type=link_type))
    assert (result.roce, result.icrc) == (1, "ok")


def test_tunnels_are_looked_into_and_the_congestion_mark_may_be_outside() -> None:
    inner = Packet(source="10.9.0.1", destination="10.9.0.2").frame()
    frames = [vxlan(inner), vxlan(inner, network=43, tos=3), geneve(inner), geneve(inner, options=bytes(16)), inner]
    result = analysed(pcap([Timed(TIME + place * 10_000, frame) for place, frame in enumerate(frames)]))
    assert (result.frames, result.roce, result.icrc) == (5, 5, "ok")
    assert (result.rc_qps, result.vxlan_qps) == (4, 2)
    assert [(point.notification_point, point.ce_marked) for point in result.notification_points] == [("10.9.0.2", 1)]


def test_a_snap_length_leaves_icrcs_unknown_and_the_rest_readable() -> None:
    frames = [Timed(frame.time_ns, frame.data[:58], wire=len(frame.data)) for frame in lossy()]
    result = analysed(pcap(frames))
    assert (result.cut, result.icrc, len(result.retransmissions)) == (9, "unknown", 1)


def test_ethernet_padding_is_no_part_of_the_packet() -> None:
    result = analysed(pcap([Timed(TIME, Packet(payload=b"").frame() + bytes(20))]))
    assert (result.roce, result.icrc) == (1, "ok")


def test_exactly_the_frames_with_a_wrong_icrc_are_listed() -> None:
    chooser = random.Random(1)
    wrong = sorted(chooser.sample(range(1, 301), 40))
    frames = [Timed(TIME + n * 2000, Packet(psn=n, icrc_error=1 << n % 32 if n in wrong else 0).frame()) for n in range(1, 301)]
    assert analysed(pcap(frames)).bad_icrc_frames == wrong


def test_other_ports_count_only_when_asked_for() -> None:
    content = pcap([Timed(TIME, Packet(udp_destination=9741).frame())])
    assert [analysed(content, port=port).roce for port in (4791, 9741, None)] == [0, 1, 1]


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_a_file_that_ends_anywhere_keeps_the_frames_before(make: object) -> None:
    assert callable(make)
    content = make(lossy())
    seen = set()
    for size in range(200, len(content)):
        result = analysed(content[:size])
        seen.add((result.frames, result.truncated))
    assert (9, True) not in seen
    assert {frames for frames, truncated in seen if truncated} >= set(range(2, 9))


def test_a_cut_gzip_stream_keeps_what_it_holds() -> None:
    frames = [Timed(TIME + n, random.Random(n).randbytes(100)) for n in range(2000)]
    content = gzip.compress(pcap(frames))
    result = analysed(content[: len(content) // 2])
    assert result.truncated
    assert 500 < result.frames < 1500


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 no capture", b"\xd4\xc3\xb2\xa1short", b"\x0a\x0d\x0d\x0a", b"\x0a\x0d\x0d\x0a" + bytes(40), b"\x1f\x8b\x08garbage"],
)
def test_what_is_no_capture_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(CaptureError, match="capture"):
        analysed(content)


def test_mirror_metadata_gives_times_and_proves_completeness() -> None:
    def mirrored(number: int, time: int, ttl: int = 0) -> Timed:
        addresses = time.to_bytes(6) + number.to_bytes(6)
        return Timed(TIME, ethernet(Packet(psn=number, ttl=ttl).ip(), addresses=addresses))

    whole = [mirrored(7 + n, 1000 + n * 5, ttl=n % 2) for n in range(10)]
    summary = analysed(pcap(whole), mirrored=True).mirror
    assert summary == {
        "complete": True, "received": 10, "mirrored": 10, "breaks": 0, "repeated": 0, "out_of_order": 0, "frames_without_metadata": 0,
        "events": {"none": 5, "drop": 5},
    }  # fmt: skip
    holed = analysed(pcap(whole[:4] + whole[5:]), mirrored=True).mirror
    assert holed is not None
    assert (holed["complete"], holed["received"], holed["mirrored"]) == (False, 9, 10)


@pytest.mark.parametrize("make", [pcap, pcapng])
@pytest.mark.parametrize("compressed", [False, True])
def test_mutated_files_never_crash(make: object, compressed: bool) -> None:
    assert callable(make)
    chooser = random.Random(22)
    talk = Conversation()
    talk.read(0, 4096)
    talk.cnp()
    inner = [*lossy(), *talk.frames, Timed(TIME + 10**9, vxlan(Packet().frame())), Timed(TIME + 2 * 10**9, geneve(Packet().frame()))]
    inner.append(Timed(TIME + 3 * 10**9, ethernet(Packet(source="::1", destination="::2").ip(), (1, 2))))
    original = make(inner)
    for _ in range(250):
        content = bytearray(original)
        for _ in range(chooser.choice((1, 2, 5, 40))):
            content[chooser.randrange(len(content))] = chooser.choice((0, 255, chooser.randrange(256)))
        if chooser.random() < 0.3:
            del content[chooser.randrange(len(content)) :]
        file = bytes(content)
        if compressed:
            packed = bytearray(gzip.compress(file))
            packed[chooser.randrange(len(packed))] ^= 1 << chooser.randrange(8)
            file = bytes(packed)
        try:
            result = analysed(file, port=chooser.choice((4791, None)), mirrored=chooser.random() < 0.2)
        except CaptureError:
            continue
        assert result.roce <= result.frames


def test_a_record_of_absurd_length_ends_the_reading() -> None:
    content = pcap(lossy()) + struct.pack("<IIII", 1, 1, 0x7FFFFFFF, 0x7FFFFFFF) + bytes(100)
    result = analysed(content)
    assert (result.frames, result.truncated) == (9, True)
