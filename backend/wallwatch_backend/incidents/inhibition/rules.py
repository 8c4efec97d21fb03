"""Which findings are side effects of remedies, and until when they are inhibited: pure rules over times.

A finding is inhibited if it starts on the RNIC (of a host's action: on the host) while an action runs there that may cause its symptom
according to the catalogue (`disturbs`), or while that action settles. A finding that outlasts it is raised.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

CLOCKS_DIFFER = timedelta(seconds=30)
"""Agents refuse commands if their clock differs by more, so a larger difference is a backlog of messages, not a clock."""
USUAL_DELAY = timedelta(seconds=5)
"""From a sample to its finding: collection, Kafka, `classify`."""
LATE = timedelta(seconds=30)
"""How long to wait for a finding's next message or its end: an active finding is repeated every 15 s."""
LONGEST = timedelta(minutes=15)
"""Nothing is inhibited for longer, however many actions run."""


@dataclass(frozen=True)
class Run:
    """An action, or its undo, on a host: from when its command left the backend (our clock) to when the agent finished (its clock)."""

    remedy_id: UUID
    action: str
    host: str
    pci: str | None
    """None if the action concerns the whole host."""
    symptoms: frozenset[str]
    settle: timedelta
    began_at: datetime
    ended_at: datetime | None = None
    """None while it runs as far as we know."""

    @property
    def settled_at(self) -> datetime | None:
        return None if self.ended_at is None else self.ended_at + self.settle

    def covers(self, at: datetime) -> bool:
        """Whether it ran or settled at a time; a run without a known end counts for `LONGEST`."""
        return self.began_at <= at <= self.covered_until

    @property
    def covered_until(self) -> datetime:
        return self.settled_at or self.began_at + LONGEST

    def may_cause(self, host: str, pci: str, symptom: str) -> bool:
        return symptom in self.symptoms and self.host == host and self.pci in (None, pci)


@dataclass(frozen=True)
class Beginning:
    """The start of a finding: `started_at` and `sent_at` by the host's clock, `received_at` by ours if known."""

    host: str
    pci: str
    symptom: str
    started_at: datetime
    sent_at: datetime
    received_at: datetime | None = None

    @property
    def by_our_clock(self) -> datetime:
        """When it started by our clock, derived from when its message was received; by the host's clock if that is unknown.

        >>> from datetime import UTC
        >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        >>> slow_clock = Beginning("h", "p", "S1", noon, noon + timedelta(seconds=10), noon + timedelta(seconds=35))
        >>> f"{slow_clock.by_our_clock:%H:%M:%S}"
        '12:00:20'
        """
        if self.received_at is None:
            return self.started_at
        ahead = self.received_at - self.sent_at
        if abs(ahead) > CLOCKS_DIFFER:
            return self.started_at
        return self.started_at + (ahead if ahead < timedelta() else max(ahead - USUAL_DELAY, timedelta()))


def causing_run(finding: Beginning, runs: Iterable[Run]) -> Run | None:
    """Return the newest run that may have caused the finding, or None if it started before or after every run that could.

    "Before" compares by our clock, as the run's start is; "after" by the host's, as its end is. An end in our future by the host's clock
    was recorded as now, so the finding counts as in time if it is by either clock.
    """
    candidates = [
        run
        for run in runs
        if run.may_cause(finding.host, finding.pci, finding.symptom)
        and run.began_at <= finding.by_our_clock
        and (run.settled_at is None or min(finding.started_at, finding.by_our_clock) <= run.settled_at)
    ]
    return max(candidates, key=lambda run: run.began_at, default=None)


def settled_at(remedy_id: UUID, inhibited_at: datetime, runs: Sequence[Run]) -> datetime:
    """Return when the cause of an inhibited finding has settled: a finding that lasts longer is raised.

    `runs` are those that may cause it. A run that starts before another has settled, such as an undo, extends it. A run without an end
    counts for `LONGEST`; one that is missing (refused after all) counts for nothing.
    """
    last = inhibited_at + LONGEST
    own = [run.settled_at or last for run in runs if run.remedy_id == remedy_id and run.began_at <= inhibited_at]
    reached = max(own, default=inhibited_at)
    for run in sorted(runs, key=lambda run: run.began_at):
        if run.began_at <= reached:
            reached = max(reached, run.settled_at or last)
    return min(reached, last)


def is_due(at: datetime, last_at: datetime, inhibited_at: datetime, settled: datetime) -> bool:
    """Return whether an active inhibited finding must be raised at `at`.

    It must if telemetry shows that it lasts (`last_at`, the newest message), or if no message of its end has come within `LATE`, which
    leaves time for a backlog.
    """
    return last_at > settled or at >= max(settled, inhibited_at) + LATE
