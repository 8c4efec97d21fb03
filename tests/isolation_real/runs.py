"""Runs: a calm interval, then somebody misbehaves. Those in which the machine did not let it happen are repeated, never judged.

Whether a run counts is decided by raw counters and round trips alone, never by what the detector says.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.isolation_real.lab import VFS
from tests.isolation_real.stage import LONGEST_INTERVAL_S, PROMISED_P99_US, Interval, Stage

from wallwatch.domain.isolation.verdicts import Mechanism

WITHIN_S = 3.0
FEWEST_ANSWERS = 60
"""Answers of each tenant in a calm interval, of 200 requests: fewer mean that the machine is too busy to play tenants."""
WAITING_PARTS = 0.3
"""Round trips in a calm interval may take this part of what is promised."""
MOST_REPEATED = 20
"""Runs that a busy machine may spoil. Each costs some seconds, and none is judged."""


@dataclass
class Run:
    """One episode that did happen."""

    vf: str
    begin: float
    calm: Interval
    episode: list[Interval]
    """Since the episode began; the first interval began before it."""

    def detected_after_s(self, mechanism: Mechanism) -> float | None:
        """Seconds until a verdict names this VF alone, with this mechanism; None if none does."""
        named = (
            interval.after.t - self.begin
            for interval in self.episode
            if interval.verdict.mechanism is mechanism and interval.verdict.aggressors == (self.vf,)
        )
        return next(named, None)

    def accused(self) -> set[tuple[Mechanism | None, tuple[str, ...]]]:
        """Whom verdicts blame, in the intervals that lie within the episode as a whole."""
        return {(interval.verdict.mechanism, interval.verdict.aggressors) for interval in self.episode[1:] if interval.verdict.broken}

    def report(self) -> str:
        return "\n".join(interval.line() for interval in (self.calm, *self.episode))


def is_calm(interval: Interval) -> bool:
    """Whether nothing shared is in trouble: the queue of the CPU takes everything, and all tenants are answered in time."""
    in_time = all(
        delay.answered >= FEWEST_ANSWERS and delay.p99_us is not None and delay.p99_us < WAITING_PARTS * PROMISED_P99_US
        for delay in interval.after.delays
    )
    return in_time and interval.dropped == 0 and interval.span_s < LONGEST_INTERVAL_S


def wait_for_calm(stage: Stage, attempts: int = 10) -> Interval | None:
    """The first calm interval; None if this machine has none."""
    for _ in range(attempts):
        interval = stage.steps("calm", 1)[0]
        if is_calm(interval):
            return interval
    return None


def record_runs(
    stage: Stage,
    count: int,
    begin: Callable[[int], None],
    end: Callable[[int], None],
    happened: Callable[[Interval], bool],
    strengthen: Callable[[], None] = lambda: None,
) -> tuple[list[Run], list[str]]:
    """Record `count` runs, each with another tenant, and why others were repeated.

    Parameters
    ----------
    begin, end
        Let the tenant misbehave, and stop.
    happened
        Whether the raw telemetry of an interval shows the episode's effect on others.
    strengthen
        Called after an episode without effect.
    """
    runs: list[Run] = []
    repeated: list[str] = []
    while len(runs) < count and len(repeated) < MOST_REPEATED:
        vf = len(runs) % VFS
        calm = wait_for_calm(stage)
        if calm is None:
            repeated.append("no calm interval before")
            continue
        at = time.monotonic()
        begin(vf)
        try:
            episode = stage.steps(f"vf{vf} misbehaves", 2)
            while time.monotonic() < at + WITHIN_S and not any(interval.verdict.broken for interval in episode):
                episode += stage.steps(f"vf{vf} misbehaves", 1)
        finally:
            end(vf)
        run = Run(f"vf{vf}", at, calm, episode)
        stage.steps("drains", 1)
        if not all(map(happened, episode[1:])):
            repeated.append("the episode had no effect:\n" + run.report())
            strengthen()
        elif any(interval.span_s >= LONGEST_INTERVAL_S for interval in episode):
            repeated.append("readings were late:\n" + run.report())
        else:
            runs.append(run)
    return runs, repeated
