"""What every part of incidents does with a single one: find it, lock it for a person's change, record who changed it."""

from typing import Any
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import events, repository
from wallwatch_backend.incidents.errors import MergedAway
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.kit import clock, etags
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound


async def require(session: ReadSession, incident_id: UUID) -> IncidentRow:
    """Return an incident's row.

    Raises
    ------
    NotFound
        When no incident has this id.
    """
    row = await repository.get(session, incident_id)
    if row is None:
        raise NotFound(f"There is no incident {incident_id}.")
    return row


async def require_for_change(session: WriteSession, incident_id: UUID, if_match: str | None) -> IncidentRow:
    """Return the locked row of an incident that a person changes.

    Raises
    ------
    NotFound, MergedAway, VersionMismatch
        When it does not exist, its findings are in another incident, or it is not at the version in `if_match`.
    """
    row = await repository.get_locked(session, incident_id)
    if row is None:
        raise NotFound(f"There is no incident {incident_id}.")
    if row.merged_into is not None:
        raise MergedAway(f"Its findings are in incident {row.merged_into}; act on that one.")
    etags.check(if_match, row.version)
    return row


def record_action(session: WriteSession, caller: Caller, action: str, row: IncidentRow, **detail: Any) -> None:
    """Add a person's action to the audit log."""
    audit.record(session, caller.actor, f"incident.{action}", row.subject, address=caller.address, incident_id=str(row.id), **detail)


async def symptoms_of(session: ReadSession, incident_id: UUID) -> list[str]:
    """Symptoms of an incident, the leading one first; of the one that has its findings, if it was merged."""
    row = await repository.get(session, incident_id)
    if row is not None and row.merged_into is not None:
        row = await repository.get(session, row.merged_into)
    return [] if row is None else [row.symptom, *(symptom for symptom in row.symptoms if symptom != row.symptom)]


async def note_remedy(session: WriteSession, incident_id: UUID | None, actor: str, text: str) -> None:
    """Add to the incident's timeline what a remedy did; a remedy without an incident changes nothing."""
    await note(session, incident_id, "remedy", actor, text)


async def note(session: WriteSession, incident_id: UUID | None, kind: str, actor: str, text: str, **data: Any) -> None:
    """Add an entry to the timeline of an incident, or of the one that it was merged into; without an incident nothing changes."""
    row = await repository.get_locked(session, incident_id) if incident_id is not None else None
    if row is not None and row.merged_into is not None:
        row = await repository.get_locked(session, row.merged_into)
    if row is not None:
        at = clock.now()
        events.note(session, row, at, kind, text, actor, **data)
        await events.publish(session, row, None, at)
