"""Queries: the RNICs of the hosts that are nodes, incidents that began or ended, pods whose metadata is missing."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, and_, func, literal_column, or_, select, text, true

from wallwatch.store.tables import rnic_state
from wallwatch_backend.cluster.conditions import Host, Present
from wallwatch_backend.fleet.rnics import symptoms
from wallwatch_backend.fleet.rnics.models import CordonRow
from wallwatch_backend.incidents.models import IncidentRow, TimelineRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession

WATCHED = timedelta(days=7)
"""A host without a newer sample is not watched any more. A repair may take days, and until then the node's health is unknown."""
_PRESENT = timedelta(days=1)
"""An RNIC whose newest sample is older than its host's by more is not in the host any more: rows of removed cards are kept. As for hosts
(`silence.FORGOTTEN_S`)."""

_PODS = text("""
    SELECT pod FROM (
        SELECT other->>'pod' AS pod, max(time) AS attached_at FROM event
        WHERE time >= :since AND kind IN ('cni_add', 'cni_del', 'host_booted') AND kind = 'cni_add' AND other->>'pod' <> ''
        GROUP BY 1
    ) attached
    LEFT JOIN kubernetes_pod read USING (pod)
    WHERE read.pod IS NULL OR read.read_at < attached.attached_at
    ORDER BY attached_at DESC LIMIT :most
""")
"""A pod that gets a function after it was read is read again: a StatefulSet gives a new pod the old name."""


async def hosts(session: ReadSession, at: datetime) -> dict[str, Host]:
    """Host -> its RNICs, of all hosts that are watched. Only RNICs with symptoms come one by one: 40,000 rows would hold up every request.

    A symptom of an RNIC that is not counted stays until it is cleared: a card that fell off the bus sends nothing.
    """
    s = rnic_state.c
    newest = select(s.host, func.max(s.seen_at).label("seen_at")).group_by(s.host).having(func.max(s.seen_at) > at - WATCHED).subquery()
    cordon = and_(CordonRow.host == s.host, CordonRow.pci == s.pci, CordonRow.cordoned)
    here = and_(s.host == newest.c.host, s.seen_at >= newest.c.seen_at - _PRESENT)
    counts = select(s.host, func.count().label("rnics"), func.count(CordonRow.pci).label("cordoned"), func.max(s.seen_at).label("seen_at"))
    grouped = await session.execute(counts.select_from(rnic_state.join(newest, here).outerjoin(CordonRow, cordon)).group_by(s.host))
    sick = await session.execute(select(s.host, s.pci, s.symptoms).where(s.symptoms != literal_column("'{}'::jsonb")))
    present: dict[str, list[Present]] = defaultdict(list)
    for row in sick:
        active = ((name, entry) for name, entry in row.symptoms.items() if symptoms.until(entry) is None)
        present[row.host] += [Present(row.pci, name, str(entry.get("severity"))) for name, entry in active]
    return {row.host: Host(row.rnics, row.cordoned, row.seen_at, present.get(row.host, ())) for row in grouped}


async def incidents(session: ReadSession, since: datetime, limit: int) -> Sequence[Row[Any]]:
    """Incidents that began, began again or were resolved since a time, and that webhooks hear of, too: the oldest change first."""
    i, entry = IncidentRow, TimelineRow
    # `updated_at` moves with every edit. Both sides of a split have an entry: the one that it made, or opened again, is set apart.
    again = or_(entry.kind == "reopened", and_(entry.kind == "split", i.apart))
    newest = select(func.max(entry.at).label("at")).where(entry.incident_id == i.id, again).lateral()
    began_at = func.coalesce(newest.c.at, i.opened_at)
    began = and_(i.state != IncidentState.resolved, began_at >= since)
    ended = and_(i.state == IncidentState.resolved, i.resolved_at >= since)
    query: Select[*tuple[Any, ...]] = (
        select(i.id, i.hosts, i.state, i.severity, i.title, began_at.label("began_at"), i.resolved_at, i.reopened)
        .join(newest, true())
        .where(i.updated_at >= since, or_(began, ended))
        .where(i.merged_into.is_(None), i.suppressed_by.is_(None), i.inhibited_by.is_(None))
        .order_by(i.updated_at)
        .limit(limit)
    )
    return (await session.execute(query)).all()


async def unread_pods(session: ReadSession, since: datetime, most: int) -> list[str]:
    """Return `namespace/name` of pods that were given a virtual function and not read since, the newest first."""
    return list((await session.execute(_PODS, {"since": since, "most": most})).scalars())
