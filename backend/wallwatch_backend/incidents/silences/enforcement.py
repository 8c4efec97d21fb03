"""Applies silences to incidents: suppress while they last, release afterwards. For one incident, or for all in a few statements.

An incident is suppressed while an active silence matches each of its active findings (of a cleared incident: each of its findings), and
while all its findings are side effects of remedies. Side effects do not count next to other findings.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import case, null

from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.rules import common_inhibitor, uninhibited, unsuppressed_state
from wallwatch_backend.incidents.silences import repository as silences
from wallwatch_backend.incidents.silences.models import SilenceRow
from wallwatch_backend.incidents.states import UNRESOLVED, IncidentState
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.matchers import Matcher, matches
from wallwatch_backend.notify.schemas import EventType

_LABELS = ("host", "rack", "pci", "model", "fw_ver", "symptom", "cause", "severity")
_RELEASED = "No silence matches it any more."


@dataclass(frozen=True)
class ActiveSilence:
    """An active silence, with its matchers parsed once."""

    id: UUID
    reason: str
    matchers: tuple[Matcher, ...]

    @classmethod
    def of(cls, row: SilenceRow) -> "ActiveSilence":
        return cls(row.id, row.reason, tuple(Matcher.model_validate(m) for m in row.matchers))


def labels(finding: Any, scope: str) -> dict[str, Collection[str]]:
    """Labels of one finding; unknown ones are left out."""
    values: dict[str, Collection[str]] = {name: (value,) for name in _LABELS if (value := getattr(finding, name))}
    return {**values, "scope": (scope,)}


def suppressing_silence(active: Sequence[ActiveSilence], findings: Iterable[Any], scope: str) -> ActiveSilence | None:
    """The silence that suppresses an incident with these findings, or None; of several, that of its last finding."""
    counting = uninhibited(list(findings))
    decisive = [row for row in counting if row.cleared_at is None] or counting
    last: ActiveSilence | None = None
    for row in decisive:
        of_finding = labels(row, scope)
        last = next((silence for silence in active if matches(silence.matchers, of_finding)), None)
        if last is None:
            return None
    return last


async def _active(session: ReadSession, at: datetime) -> list[ActiveSilence]:
    return [ActiveSilence.of(row) for row in await silences.in_force(session, at)]


async def apply_to_incident(session: WriteSession, incident: IncidentRow, at: datetime) -> None:
    """Suppress or release a locked incident according to the active silences; the caller publishes."""
    if incident.state == IncidentState.resolved:
        incident.suppressed_by = incident.suppressed_at = None
        return
    with session.no_autoflush:  # the incident is written once, when it is published
        active = await _active(session, at)
        suppressed = bool(active) or incident.state == IncidentState.suppressed
        if not suppressed and not await finding_repository.any_inhibited_by_remedies(session, incident.id):
            incident.inhibited_by = None
            return
    rows = await finding_repository.labels_of_incident(session, incident.id)
    silence = suppressing_silence(active, rows, incident.scope) if active else None
    _set_suppression(session, incident, silence, common_inhibitor(rows), at)


async def apply_to_new(session: WriteSession, incident: IncidentRow, finding: Any, at: datetime) -> None:
    """`apply_to_incident` for an incident that this transaction opened for one finding."""
    silence = suppressing_silence(await _active(session, at), [finding], incident.scope)
    _set_suppression(session, incident, silence, common_inhibitor([finding]), at)


def _set_suppression(
    session: WriteSession, incident: IncidentRow, silence: ActiveSilence | None, remedy_id: UUID | None, at: datetime
) -> None:
    """Suppress or release. The timeline gets an entry about silences; the code that inhibits or raises findings adds its own."""
    incident.inhibited_by = remedy_id
    if silence is not None and incident.suppressed_by is None:
        events.note(session, incident, at, "silenced", f"Suppressed: {silence.reason}", silence_id=str(silence.id))
    elif silence is None and incident.suppressed_by is not None:
        events.note(session, incident, at, "unsilenced", _RELEASED)
    incident.suppressed_by = silence.id if silence is not None else None
    if silence is not None or remedy_id is not None:
        if incident.state != IncidentState.suppressed:
            incident.suppressed_at = at
        incident.state = IncidentState.suppressed
    elif incident.state == IncidentState.suppressed:
        incident.state = unsuppressed_state(incident)
        incident.suppressed_at = None


@dataclass(frozen=True)
class _Changes:
    """Which incidents the active silences suppress or release."""

    suppress: dict[UUID, list[UUID]]
    """By silence."""
    release: list[UUID]
    unsilence: list[UUID]
    """No silence matches them any more, but a remedy still inhibits them."""

    @property
    def incident_ids(self) -> list[UUID]:
        return [*self.release, *self.unsilence, *(id for ids in self.suppress.values() for id in ids)]


def _changes(active: Sequence[ActiveSilence], unresolved: Iterable[Any]) -> _Changes:
    changes = _Changes({}, [], [])
    for incident_id, rows in _by_incident(unresolved).items():
        incident = rows[0]
        silence = suppressing_silence(active, rows, incident.scope) if active else None
        if silence is not None:
            if (incident.state, incident.suppressed_by) != (IncidentState.suppressed, silence.id):
                changes.suppress.setdefault(silence.id, []).append(incident_id)
        elif incident.state == IncidentState.suppressed and common_inhibitor(rows) is None:
            changes.release.append(incident_id)
        elif incident.suppressed_by is not None:
            changes.unsilence.append(incident_id)
    return changes


async def apply_to_all(session: WriteSession, at: datetime) -> int:
    """Suppress and release all unresolved incidents according to the active silences; return how many changed."""
    await repository.lock_grouping(session)
    active = await _active(session, at)
    changes = _changes(active, await finding_repository.labels_of_unresolved(session))
    # All locks on rows before the first number of the change feed is drawn.
    states = {row.id: row.state for row in await repository.lock_states(session, changes.incident_ids)}
    unresolved = {id for id, state in states.items() if state in UNRESOLVED}
    changed = 0
    for silence in active:
        ids = [id for id in changes.suppress.get(silence.id, ()) if id in unresolved]
        changed += await _suppress(session, silence, ids, [id for id in ids if states[id] != IncidentState.suppressed], at)
    changed += await _release(session, [id for id in changes.release if id in unresolved], at)
    changed += await _unsilence(session, [id for id in changes.unsilence if id in unresolved], at)
    await silences.mark_applied(session, at)
    return changed


async def _suppress(session: WriteSession, silence: ActiveSilence, ids: Sequence[UUID], new: Sequence[UUID], at: datetime) -> int:
    if new:
        text = f"Suppressed: {silence.reason}"
        await repository.add_timeline_many(session, new, at, "silenced", events.SYSTEM, text, {"silence_id": str(silence.id)})
    suppressed_at = case((IncidentRow.state == IncidentState.suppressed, IncidentRow.suppressed_at), else_=at)
    values = {"state": IncidentState.suppressed, "suppressed_by": silence.id, "suppressed_at": suppressed_at}
    return await events.publish_many(session, ids, None, at, **values)


async def _release(session: WriteSession, ids: Sequence[UUID], at: datetime) -> int:
    if not ids:
        return 0
    # Receivers that were never notified of an incident get it as a new one.
    unannounced = set(await repository.suppressed_from_the_start(session, ids))
    await repository.add_timeline_many(session, ids, at, "unsilenced", events.SYSTEM, _RELEASED)
    i = IncidentRow
    state = case(
        (i.acknowledged_by.is_not(None), IncidentState.acknowledged), (i.reopened > 0, IncidentState.reopened), else_=IncidentState.open
    )
    values = {"state": state, "suppressed_by": null(), "suppressed_at": null()}
    opened, updated = [id for id in ids if id in unannounced], [id for id in ids if id not in unannounced]
    changed = await events.publish_many(session, opened, EventType.opened, at, **values)
    return changed + await events.publish_many(session, updated, EventType.updated, at, **values)


async def _unsilence(session: WriteSession, ids: Sequence[UUID], at: datetime) -> int:
    if not ids:
        return 0
    await repository.add_timeline_many(session, ids, at, "unsilenced", events.SYSTEM, _RELEASED)
    return await events.publish_many(session, ids, None, at, suppressed_by=null())


def _by_incident(rows: Iterable[Any]) -> dict[UUID, list[Any]]:
    by_incident: dict[UUID, list[Any]] = {}
    for row in rows:
        by_incident.setdefault(row.id, []).append(row)
    return by_incident


async def matched_incidents(session: ReadSession, matchers: Sequence[Matcher]) -> list[UUID]:
    """Unresolved incidents that a silence with these matchers alone would suppress."""
    silence = ActiveSilence(UUID(int=0), "", tuple(matchers))
    by_incident = _by_incident(await finding_repository.labels_of_unresolved(session))
    return [id for id, rows in by_incident.items() if suppressing_silence([silence], rows, rows[0].scope) is not None]
