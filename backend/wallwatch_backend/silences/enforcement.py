"""What silences do to incidents: suppress them while they last, let them go afterwards. For one incident, or for all in a few statements.

An incident is suppressed while each of its active findings (of one that is over: each of its findings) is matched by a silence in force,
and while a remedy of one's own has brought all of its findings about. Findings that a remedy has brought about say nothing beside others.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import case, null

from wallwatch_backend.incidents import events, members, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.matchers import Matcher, matches
from wallwatch_backend.silences import repository as silences
from wallwatch_backend.silences.models import SilenceRow
from wallwatch_backend.webhooks.schemas import EventType

_LABELS = ("host", "rack", "pci", "model", "fw_ver", "symptom", "cause", "severity")


@dataclass(frozen=True)
class InForce:
    """A silence with its matchers, read once."""

    id: UUID
    reason: str
    matchers: tuple[Matcher, ...]

    @classmethod
    def of(cls, row: SilenceRow) -> "InForce":
        return cls(row.id, row.reason, tuple(Matcher.model_validate(m) for m in row.matchers))


def labels(finding: Any, scope: str) -> dict[str, Collection[str]]:
    """Labels of one finding; what is unknown is left out."""
    found: dict[str, Collection[str]] = {name: (value,) for name in _LABELS if (value := getattr(finding, name))}
    return {**found, "scope": (scope,)}


def suppressor(in_force: Sequence[InForce], findings: Iterable[Any], scope: str) -> InForce | None:
    """The silence that suppresses an incident with these findings, or None; of several, that of its last finding."""
    rows = members.in_earnest(list(findings))
    speaking = [row for row in rows if row.cleared_at is None] or rows
    found: InForce | None = None
    for row in speaking:
        of_finding = labels(row, scope)
        found = next((one for one in in_force if matches(one.matchers, of_finding)), None)
        if found is None:
            return None
    return found


async def _in_force(session: ReadSession, at: datetime) -> list[InForce]:
    return [InForce.of(row) for row in await silences.in_force(session, at)]


async def apply_to_one(session: WriteSession, incident: IncidentRow, at: datetime) -> None:
    """Suppress a locked incident or let it go, as silences have it now; the caller publishes."""
    if incident.state == "resolved":
        incident.suppressed_by = incident.suppressed_at = None
        return
    with session.no_autoflush:  # the incident is written once, when it is published
        in_force = await _in_force(session, at)
        if not in_force and incident.state != "suppressed" and not await members.any_inhibited_by_remedies(session, incident.id):
            incident.inhibited_by = None
            return
    rows = await members.labels_of(session, incident.id)
    found = suppressor(in_force, rows, incident.scope) if in_force else None
    _take_effect(session, incident, found, members.inhibitor_of(rows), at)


async def apply_to_new(session: WriteSession, incident: IncidentRow, finding: Any, at: datetime) -> None:
    """`apply_to_one` of an incident that was made of one finding just now."""
    found = suppressor(await _in_force(session, at), [finding], incident.scope)
    _take_effect(session, incident, found, members.inhibitor_of([finding]), at)


def _take_effect(session: WriteSession, incident: IncidentRow, found: InForce | None, remedy_id: UUID | None, at: datetime) -> None:
    """Suppress or let go. Who inhibits or raises findings has told the timeline of it; of silences it is told here."""
    incident.inhibited_by = remedy_id
    if found is not None and incident.suppressed_by is None:
        events.note(session, incident, at, "silenced", f"Suppressed: {found.reason}", silence_id=str(found.id))
    elif found is None and incident.suppressed_by is not None:
        events.note(session, incident, at, "unsilenced", _RELEASED)
    incident.suppressed_by = found.id if found is not None else None
    if found is not None or remedy_id is not None:
        if incident.state != "suppressed":
            incident.suppressed_at = at
        incident.state = "suppressed"
    elif incident.state == "suppressed":
        incident.state = "acknowledged" if incident.acknowledged_by is not None else "reopened" if incident.reopened else "open"
        incident.suppressed_at = None


_RELEASED = "No silence matches it any more."


async def apply_to_all(session: WriteSession, at: datetime) -> int:
    """Suppress and let go all unresolved incidents as silences have it now; return how many changed."""
    await repository.lock_grouping(session)
    in_force = await _in_force(session, at)
    suppress: dict[UUID, list[UUID]] = {}
    release: list[UUID] = []
    still_inhibited: list[UUID] = []  # by a remedy, after their silence
    for incident_id, rows in _by_incident(await members.unresolved_labels(session)).items():
        found = suppressor(in_force, rows, rows[0].scope) if in_force else None
        if found is not None:
            if (rows[0].state, rows[0].suppressed_by) != ("suppressed", found.id):
                suppress.setdefault(found.id, []).append(incident_id)
        elif rows[0].state == "suppressed" and members.inhibitor_of(rows) is None:
            release.append(incident_id)
        elif rows[0].suppressed_by is not None:
            still_inhibited.append(incident_id)
    # All locks on rows before the first number of the change feed is drawn.
    wanted = [*release, *still_inhibited, *(i for ids in suppress.values() for i in ids)]
    locked = {row.id: row for row in await repository.lock_many(session, wanted)}
    unresolved = {id for id, row in locked.items() if row.state != "resolved"}
    changed = 0
    for silence in in_force:
        ids = [id for id in suppress.get(silence.id, ()) if id in unresolved]
        new = [id for id in ids if locked[id].state != "suppressed"]
        if new:
            await repository.note_many(
                session, new, at, "silenced", events.SYSTEM, f"Suppressed: {silence.reason}", {"silence_id": str(silence.id)}
            )
        suppressed_at = case((IncidentRow.state == "suppressed", IncidentRow.suppressed_at), else_=at)
        values = {"state": "suppressed", "suppressed_by": silence.id, "suppressed_at": suppressed_at}
        changed += await events.publish_many(session, ids, None, at, **values)
    changed += await _release(session, [id for id in release if id in unresolved], at)
    if left := [id for id in still_inhibited if id in unresolved]:
        await repository.note_many(session, left, at, "unsilenced", events.SYSTEM, _RELEASED)
        changed += await events.publish_many(session, left, None, at, suppressed_by=null())
    await silences.mark_applied(session, at)
    return changed


async def _release(session: WriteSession, ids: Sequence[UUID], at: datetime) -> int:
    if not ids:
        return 0
    # Who was never told of an incident hears of it as a new one.
    unheard = set(await repository.suppressed_from_the_start(session, ids))
    await repository.note_many(session, ids, at, "unsilenced", events.SYSTEM, _RELEASED)
    i = IncidentRow
    state = case((i.acknowledged_by.is_not(None), "acknowledged"), (i.reopened > 0, "reopened"), else_="open")
    values = {"state": state, "suppressed_by": null(), "suppressed_at": null()}
    opened = [id for id in ids if id in unheard]
    changed = await events.publish_many(session, opened, EventType.opened, at, **values)
    return changed + await events.publish_many(session, [id for id in ids if id not in unheard], EventType.updated, at, **values)


def _by_incident(rows: Iterable[Any]) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = {}
    for row in rows:
        found.setdefault(row.id, []).append(row)
    return found


async def selected(session: ReadSession, matchers: Sequence[Matcher]) -> list[UUID]:
    """Unresolved incidents that a silence with these matchers would suppress by itself."""
    alone = [InForce(UUID(int=0), "", tuple(matchers))]
    found = _by_incident(await members.unresolved_labels(session))
    return [id for id, rows in found.items() if suppressor(alone, rows, rows[0].scope) is not None]
