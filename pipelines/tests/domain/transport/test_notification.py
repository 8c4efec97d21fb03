"""The scope and interval of a receiver's CNP limiter are read off its answers."""

import io
import random
from dataclasses import replace

import pytest

from wallwatch.domain.transport.analysis import analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import NotificationPoint
from wallwatch_testing.roce_frames import CE, CNP, Packet, Timed, pcap

RECEIVER = "10.0.0.9"
CONNECTIONS = [(sender, qp) for sender in range(3) for qp in range(3)]


def limited(scope: str, interval_ns: int, seed: int, gap_ns: int = 900, delay_ns: int = 1500) -> list[Timed]:
    """Three senders with three QPs each, marked at random; the receiver limits its CNPs by `scope`."""
    chooser = random.Random(seed)
    last: dict[object, int] = {}
    psn = dict.fromkeys(CONNECTIONS, 0)
    now, frames = 1_700_000_000_000_000_000, []
    for round_number in range(4000):
        sender, qp = CONNECTIONS[round_number] if round_number < 9 else chooser.choice(CONNECTIONS)
        now += chooser.randrange(gap_ns // 2, gap_ns * 3 // 2)
        number = 100_000 * (3 * sender + qp) + psn[sender, qp]
        psn[sender, qp] += 1
        here = Packet(source=f"10.0.0.{sender + 1}", destination=RECEIVER, qpn=0x100 + 3 * sender + qp, psn=number, tos=CE)
        frames.append(Timed(now, here.frame()))
        back = Packet(source=RECEIVER, destination=here.source, qpn=0x200 + 3 * sender + qp, psn=number, payload=b"", opcode=0x11)
        frames.append(Timed(now + 400, replace(back, extension=b"\x1f\0\0\0").frame()))
        key = {"per_port": 0, "per_destination": sender, "per_qp": (sender, qp)}[scope]
        if key not in last or now - last[key] >= interval_ns:
            last[key] = now
            frames.append(Timed(now + delay_ns, replace(back, opcode=CNP, psn=0, payload=bytes(16), migreq=0).frame()))
    return sorted(frames, key=lambda frame: frame.time_ns)


def point(frames: list[Timed]) -> NotificationPoint:
    report = ReadReport()
    result = analyse(read_frames(io.BytesIO(pcap(frames)), report), report)
    (found,) = result.notification_points
    return found


@pytest.mark.parametrize("scope", ["per_port", "per_destination", "per_qp"])
@pytest.mark.parametrize("interval_us", [4, 20, 50])
@pytest.mark.parametrize("seed", [1, 2])
def test_scope_and_interval(scope: str, interval_us: int, seed: int) -> None:
    found = point(limited(scope, interval_us * 1000, seed))
    assert found.notification_point == RECEIVER
    assert found.ce_marked == 4000
    assert found.mode == scope
    assert found.min_interval_ns is not None
    assert 0 <= found.min_interval_ns - interval_us * 1000 <= 1350 * 9


def test_scopes_that_one_connection_cannot_separate_are_named() -> None:
    only = [frame for frame in limited("per_qp", 20_000, 3) if b"\x0a\x00\x00\x01" in frame.data[:34]]
    single = [frame for frame in only if frame.data[47:50] in (b"\x00\x01\x00", b"\x00\x02\x00")]
    found = point(single)
    assert (found.mode, found.also_possible) == ("per_port", ["per_destination", "per_qp"])


def test_marks_without_any_cnp_leave_the_scope_open() -> None:
    frames = [frame for frame in limited("per_qp", 20_000, 3) if frame.data[42] != CNP]
    found = point(frames)
    assert (found.mode, found.min_interval_ns, found.cnps) == (None, None, 0)
