"""A full queue of the uplink: whose packets fill it."""

import pytest

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Counters, Extras, Reading, VfCounters
from wallwatch.domain.isolation.slo import Slo
from wallwatch.domain.isolation.verdicts import Mechanism, Verdict

VFS = [f"vf{number}" for number in range(6)]
CALM_S = 5


def verdict_after_calm(
    tx_mbps: dict[str, float], backlog: float | None, own_backlog: float = 0.0, delay_us: float = 400_000.0, max_mbps: float = 100.0
) -> Verdict:
    """Some calm seconds with 0.1 Mbit/s each, then one in which all answers are late and the VFs send `tx_mbps`."""
    detector = Detector({vf: Slo(1e6, max_mbps * 1e6, p50_us=1000.0, p99_us=1000.0) for vf in VFS}, 1e9)
    sent = dict.fromkeys(VFS, 0.0)
    verdict = None
    for second in range(CALM_S + 2):
        last = second == CALM_S + 1
        for vf in VFS:
            sent[vf] += (tx_mbps.get(vf, 0.1) if last else 0.1) * 1e6 / 8
        vfs = {
            vf: VfCounters(
                int(sent[vf]),
                int(sent[vf] / 100),
                0,
                int(sent[vf]),
                int(sent[vf] / 100),
                0,
                "",
                300.0,
                delay_us if last else 400.0,
                own_backlog,
            )
            for vf in VFS
        }
        extras = Extras(tx_backlog_bytes=backlog if last else 0.0)
        verdict = detector.step(Reading(float(second), Counters(0, 0, 0, 0, 0, 0), vfs, extras))
    assert verdict is not None
    return verdict


def test_who_sends_far_more_than_the_others_fills_the_queue_also_inside_its_envelope() -> None:
    verdict = verdict_after_calm({"vf3": 45.0}, backlog=1e6)
    assert (verdict.mechanism, verdict.aggressors) == (Mechanism.EGRESS, ("vf3",))
    assert "vf3" not in verdict.victims


def test_two_that_fill_it_are_both_named() -> None:
    assert set(verdict_after_calm({"vf1": 40.0, "vf4": 42.0}, backlog=1e6).aggressors) == {"vf1", "vf4"}


@pytest.mark.parametrize("backlog", [0.0, 2000.0])
def test_without_a_full_queue_sending_much_is_not_enough(backlog: float) -> None:
    assert verdict_after_calm({"vf3": 45.0}, backlog).aggressors == ()


def test_where_queues_are_not_measured_a_surge_while_all_others_wait_is_enough() -> None:
    assert verdict_after_calm({"vf3": 45.0}, backlog=None).aggressors == ("vf3",)


def test_where_all_send_alike_nobody_is_accused() -> None:
    assert verdict_after_calm(dict.fromkeys(VFS, 20.0), backlog=1e6).aggressors == ()


def test_a_full_queue_and_answers_in_time_break_no_promise() -> None:
    assert not verdict_after_calm({"vf3": 45.0}, backlog=1e6, delay_us=400.0).broken
