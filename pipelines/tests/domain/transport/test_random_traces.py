"""Of a hundred random captures, every retransmission, latency and late packet is found, and nothing else."""

import io
import random
from dataclasses import asdict

import pytest

from wallwatch.domain.transport.analysis import analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch_testing.roce_frames import pcap, pcapng
from wallwatch_testing.roce_traces import RandomConnection, merged


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("same_psns", [False, True])
def test_the_analysis_equals_the_truth(seed: int, same_psns: bool) -> None:
    chooser = random.Random(seed)
    captured = seed % 2 == 0
    connections = [RandomConnection(chooser, place, lost_is_captured=captured) for place in range(chooser.randrange(1, 9))]
    for connection in connections:
        if same_psns:
            connection.talk.first = 0
        connection.run(chooser.randrange(1, 12))
    frames, truth = merged(connections)
    report = ReadReport()
    content = io.BytesIO((pcap if chooser.random() < 0.5 else pcapng)(frames))
    result = analyse(read_frames(content, report), report)
    assert [asdict(found) for found in result.retransmissions] == [asdict(one) for one in truth]
    assert result.violations == []
    assert result.reordered == sum(one.late for one in connections)
    assert result.reorder_distance == max(one.distance for one in connections)
    assert (result.rc_qps, result.icrc) == (2 * len(connections), "ok")
