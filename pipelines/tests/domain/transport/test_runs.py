"""Packets that are counted together give what they give one by one."""

import io
import random
from dataclasses import asdict

import pytest

from wallwatch.domain.transport import pcap as pcap_reader
from wallwatch.domain.transport.analysis import Options, analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.direction import Direction
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Findings
from wallwatch_testing.roce_frames import CE, Conversation, Timed, pcap


@pytest.mark.parametrize("seed", range(40))
def test_a_run_of_packets_is_its_packets_one_by_one(seed: int) -> None:
    chooser = random.Random(seed)
    together, apart = (Direction(1, Findings()) for _ in range(2))
    psn, frame, now = chooser.choice([0, 0xFFFFF0]), 1, 10**18
    for _ in range(60):
        psn += chooser.choice([0, 0, 0, 1, 2, -1, -3, -7])
        count = chooser.randrange(1, 12)
        frames, times = list(range(frame, frame + count)), list(range(now, now + 1000 * count, 1000))
        together.run(psn % (1 << 24), frames, times)
        for place in range(count):
            apart.data((psn + place) % (1 << 24), frames[place], times[place], damaged=False)
        psn, frame, now = psn + count, frame + count, now + 1000 * count + chooser.choice([0, 90_000_000])
        for direction in (together, apart):
            if frame % 3 == 0:
                direction.refuse((psn - 2) % (1 << 24), frame, now)
            elif frame % 3 == 1:
                direction.acknowledge((psn - 1) % (1 << 24), frame, now)
        frame, now = frame + 1, now + 1000
    for direction in (together, apart):
        direction.finish()
    assert vars(together).pop("_findings") == vars(apart).pop("_findings")
    assert vars(together) == vars(apart)


def busy(seed: int) -> list[Timed]:
    """Three connections that lose, mark, reorder and acknowledge at random."""
    chooser = random.Random(seed)
    talks = [Conversation(chooser.randrange(1 << 24), qpns=(0x11 + n, 0x22 + n)) for n in range(3)]
    place = [0] * 3
    for _ in range(400):
        n = chooser.randrange(3)
        talk, what = talks[n], chooser.random()
        if what < 0.03 and place[n] > 6:
            lost = place[n] - chooser.randrange(1, 6)
            talk.nack(lost)
            place[n] = lost
        elif what < 0.05:
            place[n] += 1
        elif what < 0.2 and place[n]:
            talk.answer(place[n] - 1)
        else:
            talk.data(place[n], tos=CE if what > 0.95 else 2, icrc_error=1 if 0.93 < what < 0.94 else 0)
            place[n] += 1
    return sorted((frame for talk in talks for frame in talk.frames), key=lambda frame: frame.time_ns)


@pytest.mark.parametrize("seed", range(12))
def test_an_analysis_with_charts_which_take_each_packet_finds_the_same(seed: int) -> None:
    content = pcap(busy(seed))
    found = []
    for series in (False, True):
        report = ReadReport()
        found.append(asdict(analyse(read_frames(io.BytesIO(content), report), report, Options(series=series))))
    assert found[0] == found[1]
    assert found[0]["retransmissions"]


@pytest.mark.parametrize("size", [200, 5000])
def test_a_frame_may_end_anywhere_in_what_is_read_at_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    frames = busy(1)
    whole = list(read_frames(io.BytesIO(pcap(frames)), ReadReport()))
    monkeypatch.setattr(pcap_reader, "CHUNK_BYTES", size)
    pieces = list(read_frames(io.BytesIO(pcap(frames)), ReadReport()))
    assert len(pieces) > len(whole) == 1
    assert [time for piece in pieces for time in piece.time_ns.tolist()] == whole[0].time_ns.tolist()
    assert [length for piece in pieces for length in piece.length.tolist()] == whole[0].length.tolist()
