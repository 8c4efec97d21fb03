"""One tenant fills the egress buffer that all share (htb with one queue): the others' answers wait behind its packets."""

import pytest
from tests.isolation_real.lab import SHAPED_QUEUE_BYTES, VFS
from tests.isolation_real.runs import WITHIN_S, Run, record_runs
from tests.isolation_real.stage import Interval, Stage

from wallwatch.domain.isolation.verdicts import Mechanism

RUNS = 2
RATE, SIZE = 4000.0, 1400
"""45 Mbit/s into 20 Mbit/s."""


def blocks(interval: Interval) -> bool:
    """Whether the shared queue is full, most others wait, and the CPU is not what they wait for."""
    backlog = sum(queue["backlog"] for queue in interval.after.qdiscs if queue["dev"] == "uplink")
    return backlog > SHAPED_QUEUE_BYTES / 2 and len(interval.slow) >= VFS - 1 and interval.dropped == 0


@pytest.fixture(scope="module")
def floods(stage: Stage) -> list[Run]:
    """Floods of the shared buffer, each by another tenant."""
    stage.begin()
    stage.lab.share_egress_buffer()
    try:
        runs, repeated = record_runs(
            stage, RUNS, begin=lambda vf: stage.send("out", vf, RATE, SIZE), end=lambda vf: stage.quiet(), happened=blocks
        )
    finally:
        stage.lab.own_egress_buffers()
    assert len(runs) == RUNS, "floods had no effect on this machine too often:\n" + "\n".join(repeated)
    return runs


def test_who_blocks_the_shared_buffer_is_named_within_three_seconds(floods: list[Run]) -> None:
    for run in floods:
        after = run.detected_after_s(Mechanism.EGRESS)
        assert after is not None, f"{run.vf} is not named:\n{run.report()}"
        assert after <= WITHIN_S, f"{run.vf} is named after {after:.1f} s:\n{run.report()}"


def test_nobody_else_is_accused_of_blocking(floods: list[Run]) -> None:
    for run in floods:
        assert run.accused() <= {(Mechanism.EGRESS, (run.vf,))}, run.report()
        assert run.vf not in {vf for interval in run.episode[1:] for vf in interval.verdict.victims}, run.report()
