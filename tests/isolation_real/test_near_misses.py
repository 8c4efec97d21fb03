"""What looks like trouble and breaks no promise stays silent."""

from collections.abc import Callable

from tests.isolation_real.lab import LIMITED_BPS
from tests.isolation_real.runs import FEWEST_ANSWERS, wait_for_calm
from tests.isolation_real.stage import LONGEST_INTERVAL_S, PROMISE, Interval, Stage

from wallwatch.domain.isolation.slo import Slo

ATTEMPTS = 30
"""Intervals to wait for those that count; a quiet machine needs two."""
INTERVALS = 2
VF = 2
LEAST_BURST = 1500.0
"""Packets per second; seven times those of a calm tenant."""


def others_are_well(interval: Interval) -> bool:
    """Whether no tenant but the one in question waits or loses packets, by the raw telemetry."""
    answered = all(delay.answered >= FEWEST_ANSWERS for vf, delay in enumerate(interval.after.delays) if vf != VF)
    return answered and interval.dropped == 0 and set(interval.slow) <= {f"vf{VF}"} and interval.span_s < LONGEST_INTERVAL_S


def assert_silent(
    stage: Stage,
    begin: Callable[[], None],
    end: Callable[[], None],
    happened: Callable[[Interval], bool],
    slos: dict[str, Slo] | None = None,
    weaken: Callable[[], None] = lambda: None,
) -> list[Interval]:
    """Let it happen until a few intervals show it with all others well, and expect silence in these.

    `weaken` is called after an interval that does not.
    """
    stage.begin(slos)
    judged: list[Interval] = []
    wait_for_calm(stage)
    begin()
    try:
        stage.steps("begins", 1)
        for _ in range(ATTEMPTS):
            interval = stage.steps("near miss", 1)[0]
            if happened(interval) and others_are_well(interval):
                judged.append(interval)
            else:
                weaken()
            if len(judged) == INTERVALS:
                break
    finally:
        end()
        stage.steps("ends", 1)
    assert len(judged) == INTERVALS, "the near miss did not happen on this machine:\n" + stage.report()
    assert [interval for interval in judged if interval.verdict.broken] == [], stage.report()
    return judged


def test_one_slow_guest_is_no_breakage(stage: Stage) -> None:
    judged = assert_silent(
        stage, begin=lambda: stage.hold(VF, 0.2), end=lambda: stage.hold(VF, 0), happened=lambda interval: interval.slow == [f"vf{VF}"]
    )
    assert any(f"vf{VF}" in note for note in judged[-1].verdict.notes), stage.report()


def test_a_tenant_at_its_own_limiter_is_no_breakage(stage: Stage) -> None:
    limited = Slo(PROMISE.min_bps, PROMISE.max_bps, PROMISE.p50_us, PROMISE.p99_us, PROMISE.loss, policed_bps=LIMITED_BPS)

    def begin() -> None:
        stage.lab.limit(VF)
        stage.send("in", VF, 2000, 400)

    def end() -> None:
        stage.quiet()
        stage.lab.unlimit(VF)

    assert_silent(stage, begin, end, happened=lambda interval: _limiter_drops(interval) > 100, slos={f"vf{VF}": limited})


def test_a_burst_that_everybody_has_room_for_is_no_breakage(stage: Stage) -> None:
    rate = stage.storm_rate / 20

    def send() -> None:
        stage.send("in", VF, rate, 400)

    def weaken() -> None:
        """A machine whose sender is fast and whose packets are dear has less room."""
        nonlocal rate
        rate = max(rate / 1.3, LEAST_BURST)
        send()

    def received(interval: Interval) -> bool:
        before, after = (sample.representors[VF]["tx"]["packets"] for sample in (interval.before, interval.after))
        return bool(after - before > rate * interval.span_s / 2)

    assert_silent(stage, begin=send, end=stage.quiet, happened=received, weaken=weaken)


def _limiter_drops(interval: Interval) -> int:
    before, after = (
        sum(queue["drops"] for queue in sample.qdiscs if queue["dev"] == f"rep{VF}") for sample in (interval.before, interval.after)
    )
    return int(after - before)
