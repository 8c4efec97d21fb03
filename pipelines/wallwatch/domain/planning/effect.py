"""What a plan is expected to gain and to cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us
from wallwatch.domain.planning.steps import Step
from wallwatch.domain.planning.traffic import WINDOW_S, Traffic

PACE_SHARE = 0.5
"""Share of the wall of flow insertions that a plan's operations may take; the rest is left to the flows that come by themselves."""


@dataclass(frozen=True)
class Expected:
    """Mean lookups in both chains and the performance that follows from them; None without traffic in either direction."""

    q_l: float | None
    q_r: float | None
    bandwidth_gbps: float | None
    latency_us: float | None


def expected(profile: Profile, q_l: float | None, q_r: float | None) -> Expected:
    """The performance of a connection whose packets need `q_l` lookups here and `q_r` at its peer; a direction without traffic counts as 0.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> round(expected(profiles()["CX-6"], 0.0, None).bandwidth_gbps, 1)
    158.2
    """
    if q_l is None and q_r is None:
        return Expected(None, None, None, None)
    left, right = q_l or 0.0, q_r or 0.0
    return Expected(q_l, q_r, bandwidth_gbps(profile.performance, left, right), latency_us(profile.performance, left, right))


@dataclass(frozen=True)
class Cost:
    """What applying takes."""

    operations: int
    insertions: int
    duration_s: float
    """At a pace of half the profile's wall of flow insertions."""
    pace_per_s: float
    flows_in_software: int
    """Flows that are re-added and whose packets have no exact entry meanwhile."""
    longest_in_software_s: float
    packets_in_software: float


def cost(done: list[Step], traffic: Traffic, row_of: dict[int, int], shielded: set[int], profile: Profile, careful: bool) -> Cost:
    """Count the operations and the packets that pass through software while their flow is missing.

    Parameters
    ----------
    row_of : mapping of a flow's line to its row
    shielded : set of rows
        Flows whose packets have an exact entry.
    """
    pace = PACE_SHARE * profile.limits["flow_insertions"].value
    moves = [step for step in done if step.phase == "move"]
    live = traffic.packets.tolist()
    away = packets = longest = 0.0
    for run in [moves] if careful else _runs(moves):
        seconds = len(run) / pace
        for step in run:
            row = row_of[step.flow.line]
            if not step.add or row in shielded or live[row] == 0:
                continue
            away += 1
            longest = max(longest, seconds)
            packets += live[row] * seconds / WINDOW_S
    insertions = sum(step.add for step in done)
    return Cost(len(done), insertions, len(done) / pace, pace, int(away), longest, packets)


def _runs(moves: Sequence[Step]) -> Iterator[list[Step]]:
    """The operations of each mask, which follow on one another."""
    run: list[Step] = []
    for step in moves:
        if run and (step.flow.mask != run[-1].flow.mask or step.flow.recirculated != run[-1].flow.recirculated):
            yield run
            run = []
        run.append(step)
    if run:
        yield run
