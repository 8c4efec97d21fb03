"""Runs policies over past events: for `wallwatch policy backtest` and for the backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.step import Counts, Event, Violation
from wallwatch.domain.policies.watch import BOOT, LOSSES, Watch

PROGRESS_EVERY = 20_000

Progress = Callable[[int, int], None]
"""Progress callback: number of events read, and the time of the last one (us)."""


@dataclass(slots=True)
class Report:
    """Times are microseconds since 1970; without events both are 0."""

    violations: list[Violation]
    """The first violations, by time; `counts` has the total."""
    counts: dict[str, Counts] = field(default_factory=dict)
    events: int = 0
    from_us: int = 0
    to_us: int = 0


def kinds_bound(policy: Policy) -> set[str]:
    """Kinds of events that set a proposition of the policy."""
    return {kind for proposition in policy.propositions.values() for kind in proposition.kind}


def kinds_read(policies: Iterable[Policy]) -> set[str]:
    """Kinds of events that a backtest of these policies must read: those, boots, and reports of lost events."""
    return set().union(*map(kinds_bound, policies)) | set(LOSSES) | {BOOT}


def backtest(
    policies: Iterable[Policy],
    events: Iterable[Event],
    most_reported: int = 1_000_000,
    progress: Progress | None = None,
    *,
    past: bool = False,
    until_us: int | None = None,
) -> Report:
    """Run policies over events that are in the order of each host.

    Parameters
    ----------
    past : bool
        Subjects may have earlier events that are not included: they start as unknown.
    until_us : int, optional
        All events up to this time are included, so timers run until then; defaults to the time of the last event.

    Examples
    --------
    >>> from wallwatch.domain.policies.load import policies
    >>> report = backtest([policies()["host-cpus-run"]], [Event("soft_lockup", 5, "h")])
    >>> report.counts["host-cpus-run"].violations, report.violations[0].subject
    (1, ('h',))
    """
    watch, report = Watch(policies, past=past), Report([])
    for event in events:
        report.events += 1
        report.to_us = max(report.to_us, event.at_us)
        report.from_us = min(report.from_us or event.at_us, event.at_us)
        _report(report, watch.take(event), most_reported)
        if progress is not None and report.events % PROGRESS_EVERY == 0:
            progress(report.events, event.at_us)
    _report(report, watch.tick((report.to_us if until_us is None else until_us) + 1), most_reported)
    report.violations.sort(key=lambda one: one.at_us)
    report.counts = watch.counts()
    return report


def _report(report: Report, found: list[Violation], most: int) -> None:
    report.violations += found[: max(most - len(report.violations), 0)]
