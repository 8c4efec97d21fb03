"""What remedies of one's own bring about is inhibited: a pure rule over times, so that it can be tested by tables.

A finding is inhibited when it begins on the RNIC (of a host's action: on the host) while an action runs there that the catalogue says may
bring its symptom about (`disturbs`), or within the time in which that settles. What outlasts it is raised.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

CLOCKS_DIFFER = timedelta(seconds=30)
"""No agent takes a command when its clock differs by more, so more than that is no clock but a backlog."""
USUAL_DELAY = timedelta(seconds=5)
"""From a sample to its finding: collection, Kafka, `classify`."""
LATE = timedelta(seconds=30)
"""How long the end of a finding, or word that it lasts, is awaited: a finding that lasts is repeated every 15 s."""
LONGEST = timedelta(minutes=15)
"""Nothing is inhibited for longer, whatever runs, and however often."""


@dataclass(frozen=True)
class Run:
    """An action, or its undo, on a host: from when its command left the backend (our clock) to when the agent was done (its clock)."""

    remedy_id: UUID
    action: str
    host: str
    pci: str | None
    """None where the action is of the host."""
    symptoms: frozenset[str]
    settle: timedelta
    began_at: datetime
    ended_at: datetime | None = None
    """None while it runs, as far as we know."""

    @property
    def settled_at(self) -> datetime | None:
        return None if self.ended_at is None else self.ended_at + self.settle

    def covers(self, at: datetime) -> bool:
        """Whether it ran or settled at a time; a run of which no end is known counts for `LONGEST`."""
        return self.began_at <= at <= self.covered_until

    @property
    def covered_until(self) -> datetime:
        return self.settled_at or self.began_at + LONGEST

    def may_bring_about(self, host: str, pci: str, symptom: str) -> bool:
        return symptom in self.symptoms and self.host == host and self.pci in (None, pci)


@dataclass(frozen=True)
class Beginning:
    """A finding as its first message has it: `started_at` and `said_at` by the host's clock, `heard_at` by ours where that is known."""

    host: str
    pci: str
    symptom: str
    started_at: datetime
    said_at: datetime
    heard_at: datetime | None = None

    @property
    def by_our_clock(self) -> datetime:
        """When it began, counted back from when we heard of it; by the host's clock where that cannot be told.

        >>> from datetime import UTC
        >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        >>> slow_clock = Beginning("h", "p", "S1", noon, noon + timedelta(seconds=10), noon + timedelta(seconds=35))
        >>> f"{slow_clock.by_our_clock:%H:%M:%S}"
        '12:00:20'
        """
        if self.heard_at is None:
            return self.started_at
        ahead = self.heard_at - self.said_at
        if abs(ahead) > CLOCKS_DIFFER:
            return self.started_at
        return self.started_at + (ahead if ahead < timedelta() else max(ahead - USUAL_DELAY, timedelta()))


def brought_about_by(finding: Beginning, runs: Iterable[Run]) -> Run | None:
    """Return the newest run that may have brought the finding about; None where it began before, after, or for other reasons.

    Whether it began before the run is asked by our clock, as the run's beginning is; whether after it by the host's, as its end is. An end
    that the host's clock puts into our future was taken for now, so that either clock may say that it began in time.
    """
    found = [
        run
        for run in runs
        if run.may_bring_about(finding.host, finding.pci, finding.symptom)
        and run.began_at <= finding.by_our_clock
        and (run.settled_at is None or min(finding.started_at, finding.by_our_clock) <= run.settled_at)
    ]
    return max(found, key=lambda run: run.began_at, default=None)


def settled_at(remedy_id: UUID, inhibited_at: datetime, runs: Sequence[Run]) -> datetime:
    """Return when what an inhibited finding was brought about by has settled: then it is raised if it lasts.

    `runs` are those that may bring it about. One that begins before another has settled, such as an undo, goes on with it. A run that has
    not ended counts for `LONGEST`, and one that is not there any more (refused after all) for nothing.
    """
    last = inhibited_at + LONGEST
    own = [run.settled_at or last for run in runs if run.remedy_id == remedy_id and run.began_at <= inhibited_at]
    reached = max(own, default=inhibited_at)
    for run in sorted(runs, key=lambda run: run.began_at):
        if run.began_at <= reached:
            reached = max(reached, run.settled_at or last)
    return min(reached, last)


def is_due(at: datetime, last_at: datetime, inhibited_at: datetime, settled: datetime) -> bool:
    """Say whether an inhibited finding that has not ended is to be raised at `at`.

    It is when telemetry says that it lasts (`last_at`, the newest message), or when nothing came that says that it ended; of a backlog the
    rest is awaited.
    """
    return last_at > settled or at >= max(settled, inhibited_at) + LATE
