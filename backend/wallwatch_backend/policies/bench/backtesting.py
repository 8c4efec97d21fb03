"""Runs a policy over stored events. Pure, and run in a separate process."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from wallwatch.domain.policies.backtest import backtest as replayed
from wallwatch.domain.policies.backtest import kinds_bound
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.replay import path
from wallwatch.domain.policies.step import Event
from wallwatch.domain.policies.step import Violation as Found
from wallwatch.domain.policies.vocabulary import event_kinds
from wallwatch_backend.policies.bench.schemas import BacktestPart, NotStored, PolicyBacktest
from wallwatch_backend.policies.formulas.analysis import monitor_of, verdict
from wallwatch_backend.policies.formulas.words import text_of
from wallwatch_backend.policies.reports.schemas import PolicyViolation, TraceStep

MAX_SHOWN = 100
_PARTS = 48

Stored = tuple[datetime, str, str, str, dict[str, Any]]
"""(time, host, pci, kind, fields)"""


class Span(NamedTuple):
    since: datetime
    until: datetime
    cut_short: bool


def backtest(policy: Policy, events: Sequence[Stored], span: Span) -> PolicyBacktest:
    """Run a policy over events in order of time. Subjects may have a past outside these events, so they begin as unknown."""
    mine = kinds_bound(policy)
    part = max((span.until - span.since) / _PARTS, timedelta(seconds=1))
    counted = Counter((event[0] - span.since) // part for event in events if event[3] in mine)
    read_until = events[-1][0] if span.cut_short and events else span.until
    replay = (Event(kind, _us(at), host, pci, fields) for at, host, pci, kind, fields in events)
    report = replayed([policy], replay, past=True, until_us=_us(read_until))
    found, counts = report.violations, report.counts[policy.id]
    violated = Counter((_at(one.at_us) - span.since) // part for one in found)
    return PolicyBacktest(
        since=span.since,
        until=span.until,
        events=counted.total(),
        cut_short=span.cut_short,
        read_until=read_until,
        hosts=len({event[1] for event in events}),
        subjects=counts.subjects,
        unknown=counts.unknown,
        late=counts.late,
        violations=len(found),
        subjects_violated=len({one.subject for one in found}),
        shown=[_presented(policy, one) for one in reversed(found[-MAX_SHOWN:])],
        timeline=[
            BacktestPart(at=span.since + part * number, violations=violated[number], events=counted[number])
            for number in range(ceil((span.until - span.since) / part))
        ],
        not_stored=[NotStored(kind=kind, label=event_kinds()[kind].label) for kind in sorted(mine) if event_kinds()[kind].stays_on_host],
    )


def _presented(policy: Policy, one: Found) -> PolicyViolation:
    monitor = monitor_of(policy.formula)
    start, states = path(monitor, [step.propositions for step in one.steps], one.cut)
    return PolicyViolation(
        id=f"{one.at_us} {' '.join(one.subject)}",
        policy=policy.id,
        at=_at(one.at_us),
        host=one.host,
        pci=one.pci,
        subject=" ".join(part for part in one.subject if part != one.host) or "host",
        severity=policy.severity,
        text=policy.violation,
        revision="",
        version=None,
        left_out=0,
        cut=one.cut,
        start=start,
        trace=[
            TraceStep(
                at=_at(step.at_us),
                host=step.host,
                kinds=list(step.kinds),
                propositions=list(step.propositions),
                text=text_of(policy, step.propositions, step.kinds),
                state=state,
                verdict=None if state is None else verdict(monitor, state),
            )
            for step, state in zip(one.steps, states, strict=True)
        ],
    )


def _us(at: datetime) -> int:
    return round(at.timestamp() * 1e6)


def _at(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us / 1e6, UTC)
