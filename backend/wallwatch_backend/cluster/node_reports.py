"""Keeps what NVSentinel says of nodes, and says it in the timelines of open incidents of those hosts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import exists, or_, select

from wallwatch_backend.cluster.nvsentinel import CORDON, Report, sentence
from wallwatch_backend.hosts.kubernetes import reports
from wallwatch_backend.hosts.kubernetes.reports import NvsentinelReportRow
from wallwatch_backend.incidents import events
from wallwatch_backend.incidents.models import IncidentRow, TimelineRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import Database, WriteSession

KIND, ACTOR = "node", "nvsentinel"
_KEPT = timedelta(days=30)
_MOST_HOSTS = 50
"""An incident of more hosts gets no entries but the one that says so: a fleet's would fill its timeline."""
_PAGE = 500
"""Incidents of a transaction. Whatever else changes incidents waits for it, which for 500 takes about a second."""
_MOST_ENTRIES = 100
"""A timeline with so many entries gets no more beginnings but an entry that says so: a check that comes and goes would fill it."""
_LEFT_OUT = "left out"


class Entry(NamedTuple):
    """What a timeline should say of a report, and whether of its beginning or its end."""

    report: str
    what: str
    at: datetime
    text: str


async def store(session: WriteSession, said: Mapping[str, Sequence[Report]], at: datetime) -> None:
    """Store what is said of each host at the time of a listing; what is not said any more has ended. `add_to_timelines` says it."""
    rows: list[dict[str, object]] = [
        {"host": host, "name": r.name, "since": r.since, "text": r.text, "devices": list(r.devices), "until": None, "read_at": at}
        for host, found in said.items()
        for r in found
    ]
    await reports.store(session, rows)
    await end_all(session, at)


async def end_all(session: WriteSession, at: datetime) -> None:
    """End what was last read before `at`. While NVSentinel is not read, nobody else would notice the end of what it said."""
    ended = await reports.end_before(session, at)
    await reports.delete_ended(session, at - _KEPT, ended)


async def add_to_timelines(database: Database, said: Mapping[str, Sequence[Report]], at: datetime) -> None:
    """Add what began, and what ended, to the timelines of open incidents, each once; a transaction for each page of incidents.

    What a page lacks because the process ended is added by the next call: the entries themselves say which there are.
    """
    after: UUID | None = None
    while True:
        async with database.write() as session:
            after = await _add_to_page(session, said, after, at)
        if after is None:
            return


async def _add_to_page(session: WriteSession, said: Mapping[str, Sequence[Report]], after: UUID | None, at: datetime) -> UUID | None:
    """Add to the incidents after one; return the last of them, None if there are no more. Only those that get an entry are locked.

    What ended is found by the entries of its beginning: it may have ended while the incident was resolved, and that was reopened since.
    """
    hosts = [host for host, found in said.items() if found]
    i, t = IncidentRow, TimelineRow
    concerned = [
        i.state != IncidentState.resolved,
        i.merged_into.is_(None),
        or_(i.hosts.overlap(hosts), exists().where(t.incident_id == i.id, t.kind == KIND)),
    ]
    page = select(i).where(*concerned, *([i.id > after] if after is not None else [])).order_by(i.id).limit(_PAGE)
    incidents = (await session.scalars(page)).all()
    new = await _due(session, incidents, said)
    lock = select(i).where(i.id.in_(new), *concerned).order_by(i.id).with_for_update().execution_options(populate_existing=True)
    locked = (await session.scalars(lock)).all() if new else []
    for incident in locked:
        for entry in new[incident.id]:
            when = min(max(entry.at, incident.opened_at), at)
            events.note(session, incident, when, KIND, entry.text, ACTOR, report=entry.report, what=entry.what)
    for incident in locked:
        await events.publish(session, incident, None, at)
    return incidents[-1].id if len(incidents) == _PAGE else None


async def _due(session: WriteSession, incidents: Sequence[IncidentRow], said: Mapping[str, Sequence[Report]]) -> dict[UUID, list[Entry]]:
    """Incident -> the entries that its timeline lacks; without those that lack none."""
    written = await _entries_of(session, [incident.id for incident in incidents])
    over = await reports.ended_on(session, {key.partition(" ")[0] for known in written.values() for key, what in known if what == "began"})
    new: dict[UUID, list[Entry]] = {}
    for incident in incidents:
        known = written.get(incident.id, set())
        began = [_began(incident, host, report) for host in incident.hosts for report in said.get(host, ())]
        due = [entry for entry in began if (entry.report, entry.what) not in known]
        room = max(_MOST_ENTRIES - len(known), 0) if len(incident.hosts) <= _MOST_HOSTS else 0
        if len(due) > room:
            due = [*due[:room], _left_out(incident, due[room].at)]
        due += [_ended(row) for row in over if row.host in incident.hosts and (_key(row.host, row), "began") in known]
        if fresh := [entry for entry in due if (entry.report, entry.what) not in known]:
            new[incident.id] = fresh
    return new


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


def _left_out(incident: IncidentRow, at: datetime) -> Entry:
    many = f"{len(incident.hosts)} hosts" if len(incident.hosts) > _MOST_HOSTS else "these hosts"
    return Entry(_LEFT_OUT, _LEFT_OUT, at, f"NVSentinel says more of {many} than is listed here; the pages of their RNICs have all of it.")


def _ended(row: NvsentinelReportRow) -> Entry:
    cordon = row.name == CORDON
    text = f"NVSentinel's cordon of the node {row.host} ended." if cordon else f"NVSentinel on the node {row.host}: {row.name} ended."
    return Entry(_key(row.host, row), "ended", row.until or row.read_at, text)
