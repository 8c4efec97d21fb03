"""What incidents ask about remedies, which belong to a context above this one.

Remedies implement `RemedyHistory` and the application registers it once when it starts. It is stateless (every method gets its session),
so one registration serves the process; passing it through each function that shows an incident would change some forty signatures.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession


@dataclass(frozen=True)
class AppliedRemedy:
    """A remedy that changed a host."""

    id: UUID
    action: str
    params: dict[str, Any]
    state: str
    requested_by: str
    host: str
    pci: str | None


@dataclass(frozen=True)
class CommandRun:
    """One apply or undo of a remedy on its host: from when its command left the backend to when the agent reported its end."""

    remedy_id: UUID
    action: str
    host: str
    pci: str | None
    sent_at: datetime
    finished_at: datetime | None


class RemedyHistory(Protocol):
    """Reads remedies; one statement per call, whatever the number of incidents or hosts."""

    async def ids_of_incidents(self, session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Remedies requested for these incidents, oldest first: (remedy, incident)."""
        ...

    async def applied_for_incidents(self, session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, AppliedRemedy]]:
        """(incident, remedy) of those that were applied, confirmed ones first, then oldest first.

        A remedy of a merged incident counts for the incident that has its findings now.
        """
        ...

    async def applied_on_hosts(
        self, session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, AppliedRemedy]]:
        """(time, remedy) of at most 100 that were applied on the hosts in the interval, oldest first."""
        ...

    async def command_runs(
        self, session: ReadSession, actions: Collection[str], hosts: Sequence[str] | None, ended_after: datetime
    ) -> Sequence[CommandRun]:
        """Runs of these actions on the hosts (None: on all) that have not ended or ended after a time, oldest first.

        Dry runs, commands that never left the backend and commands that the agent refused changed nothing and are left out.
        """
        ...


_registered: list[RemedyHistory] = []


def register(history: RemedyHistory) -> None:
    """Set the implementation that incidents use from now on."""
    _registered[:] = [history]


def remedy_history() -> RemedyHistory:
    """Return the registered implementation.

    Raises
    ------
    RuntimeError
        When the application has registered none.
    """
    if not _registered:
        raise RuntimeError("no RemedyHistory is registered: call incidents.remedy_history.register() at start-up")
    return _registered[0]
