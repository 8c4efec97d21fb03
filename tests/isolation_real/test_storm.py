"""A storm of small packets to one tenant costs the others: their packets wait in, or are refused by, the same queue of the same CPU."""

from statistics import median

import pytest
from tests.isolation_real.runs import WITHIN_S, Run, record_runs
from tests.isolation_real.stage import STORM_BYTES, Interval, Stage

from wallwatch.domain.isolation.verdicts import Mechanism

pytestmark = pytest.mark.timeout(600)  # ten runs take half a minute; those that a starved machine spoils are repeated

RUNS = 10
REFUSED_PARTS = 0.05
"""Refused packets of those that came to the CPU, from which on a storm is one."""


def overflows(interval: Interval) -> bool:
    """Whether the CPU's queue refused packets, not only of the storm."""
    return interval.dropped > REFUSED_PARTS * (interval.processed + interval.dropped)


@pytest.fixture(scope="module")
def storms(stage: Stage) -> list[Run]:
    """Ten storms, each to another tenant than the one before."""
    stage.begin()
    runs, repeated = record_runs(
        stage,
        RUNS,
        begin=lambda vf: stage.send("in", vf, stage.storm_rate, STORM_BYTES),
        end=lambda vf: stage.quiet(),
        happened=overflows,
        strengthen=stage.strengthen,
    )
    assert len(runs) == RUNS, "storms had no effect on this machine too often:\n" + "\n".join(repeated)
    return runs


def test_a_storm_costs_the_other_tenants(storms: list[Run]) -> None:
    for run in storms:
        for vf, calm in enumerate(run.calm.after.delays):
            if f"vf{vf}" == run.vf:
                continue
            stormy = [interval.after.delays[vf] for interval in run.episode]
            refused = run.episode[-1].after.representors[vf]["tx"]["dropped"] - run.calm.after.representors[vf]["tx"]["dropped"]
            slower = median(delay.p50_us or float("inf") for delay in stormy) > 3 * (calm.p50_us or float("inf"))
            assert refused > 0 or slower or any(delay.lost for delay in stormy), f"vf{vf} of {run.vf}'s storm:\n{run.report()}"


def test_the_tenant_under_the_storm_is_named_within_three_seconds_in_ten_of_ten_runs(storms: list[Run]) -> None:
    """The mechanism is the CPU, not the ingress packet rate: what overflows is the queue of a CPU (`softnet_stat`), and no port drops."""
    for run in storms:
        after = run.detected_after_s(Mechanism.CPU)
        assert after is not None, f"{run.vf} is not named:\n{run.report()}"
        assert after <= WITHIN_S, f"{run.vf} is named after {after:.1f} s:\n{run.report()}"


def test_nobody_else_is_accused_in_a_storm(storms: list[Run]) -> None:
    for run in storms:
        assert run.accused() <= {(Mechanism.CPU, (run.vf,))}, run.report()
        victims = {vf for interval in run.episode[1:] for vf in interval.verdict.victims}
        assert victims, run.report()
        assert run.vf not in victims, run.report()


def test_before_a_storm_nothing_is_broken(storms: list[Run]) -> None:
    """Only intervals in which no packet was refused and all tenants were answered in time are asked about."""
    for run in storms:
        assert not run.calm.verdict.broken, run.report()
