"""Keeps what NVSentinel says of nodes, and says it in the timelines of open incidents of those hosts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import exists, func, or_, select

from wallwatch_backend.cluster.nvsentinel import CORDON, Report, sentence
from wallwatch_backend.hosts.kubernetes import reports
from wallwatch_backend.hosts.kubernetes.reports import NvsentinelReportRow
from wallwatch_backend.incidents import events
from wallwatch_backend.incidents.models import IncidentRow, TimelineRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import WriteSession

KIND, ACTOR = "node", "nvsentinel"
_KEPT = timedelta(days=30)
_MOST_HOSTS = 50
"""An incident of more hosts gets no entries: a fleet's would fill its timeline."""
_MOST_INCIDENTS = 500
_MOST_ENTRIES = 100
"""A timeline with so many entries gets no more beginnings: a check that comes and goes would fill it."""


class Entry(NamedTuple):
    """What a timeline should say of a report, and whether of its beginning or its end."""

    report: str
    what: str
    at: datetime
    text: str


async def store(session: WriteSession, said: Mapping[str, Sequence[Report]], at: datetime) -> None:
    """Store what is said of each host at the time of a listing; what is not said any more has ended."""
    rows: list[dict[str, object]] = [
        {"host": host, "name": r.name, "since": r.since, "text": r.text, "devices": list(r.devices), "until": None, "read_at": at}
        for host, found in said.items()
        for r in found
    ]
    await reports.store(session, rows)
    ended = await reports.end_before(session, at)
    await reports.delete_ended(session, at - _KEPT, ended)
    await _add_to_timelines(session, said, at)


async def end_all(session: WriteSession, at: datetime) -> None:
    """End what was said while NVSentinel was read; nobody would notice its end."""
    if ended := await reports.end_before(session, at):
        await reports.delete_ended(session, at - _KEPT, ended)
        await _add_to_timelines(session, {}, at)


async def _add_to_timelines(session: WriteSession, said: Mapping[str, Sequence[Report]], at: datetime) -> None:
    """Add what began, and what ended, to the timelines of open incidents, each once. Only incidents that get an entry are locked.

    What ended is found by the entries of its beginning: it may have ended while the incident was resolved, and that was reopened since.
    """
    hosts = [host for host, found in said.items() if found]
    i, t = IncidentRow, TimelineRow
    concerned = (
        i.state != IncidentState.resolved,
        i.merged_into.is_(None),
        or_(i.hosts.overlap(hosts), exists().where(t.incident_id == i.id, t.kind == KIND)),
        func.cardinality(i.hosts) <= _MOST_HOSTS,
    )
    incidents = (await session.scalars(select(i).where(*concerned).order_by(i.id).limit(_MOST_INCIDENTS))).all()
    written = await _entries_of(session, [incident.id for incident in incidents])
    over = await reports.ended_on(session, {host for incident in incidents if written.get(incident.id) for host in incident.hosts})
    new: dict[UUID, list[Entry]] = {}
    for incident in incidents:
        known = written.get(incident.id, set())
        due = (
            [_began(incident, host, report) for host in incident.hosts for report in said.get(host, ())]
            if len(known) < _MOST_ENTRIES
            else []
        )
        due += [_ended(row) for row in over if row.host in incident.hosts and (_key(row.host, row), "began") in known]
        if fresh := [entry for entry in due if (entry.report, entry.what) not in known]:
            new[incident.id] = fresh
    if not new:
        return
    lock = select(i).where(i.id.in_(new), *concerned).order_by(i.id).with_for_update().execution_options(populate_existing=True)
    locked = (await session.scalars(lock)).all()
    for incident in locked:
        for entry in new[incident.id]:
            when = min(max(entry.at, incident.opened_at), at)
            events.note(session, incident, when, KIND, entry.text, ACTOR, report=entry.report, what=entry.what)
    for incident in locked:
        await events.publish(session, incident, None, at)


async def _entries_of(session: WriteSession, incident_ids: Sequence[UUID]) -> dict[UUID, set[tuple[str, str]]]:
    """Incident -> what its timeline says of which report."""
    t = TimelineRow
    query = select(t.incident_id, t.data["report"].astext, t.data["what"].astext).where(t.incident_id.in_(incident_ids), t.kind == KIND)
    found: dict[UUID, set[tuple[str, str]]] = {}
    for incident_id, report, what in await session.execute(query):
        found.setdefault(incident_id, set()).add((report, what))
    return found


def _key(host: str, report: Report | NvsentinelReportRow) -> str:
    return f"{host} {report.name} {report.since.astimezone(UTC).isoformat()}"


def _began(incident: IncidentRow, host: str, report: Report) -> Entry:
    text = sentence(host, report)
    if report.since < incident.opened_at:
        text = f"{text.removesuffix('.')}, since {report.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    return Entry(_key(host, report), "began", report.since, text)


def _ended(row: NvsentinelReportRow) -> Entry:
    cordon = row.name == CORDON
    text = f"NVSentinel's cordon of the node {row.host} ended." if cordon else f"NVSentinel on the node {row.host}: {row.name} ended."
    return Entry(_key(row.host, row), "ended", row.until or row.read_at, text)
