"""Queries: the RNICs of the hosts that are nodes, incidents that began or ended, pods whose metadata is missing."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, literal_column, or_, select, text

from wallwatch.store.tables import rnic_state
from wallwatch_backend.cluster.conditions import Host, Present
from wallwatch_backend.fleet.rnics import symptoms
from wallwatch_backend.fleet.rnics.models import CordonRow
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession

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


async def hosts(session: ReadSession) -> dict[str, Host]:
    """Host -> its RNICs, of the whole fleet. Only those with symptoms come one by one: 40,000 rows would hold up every request."""
    s = rnic_state.c
    cordon = and_(CordonRow.host == s.host, CordonRow.pci == s.pci, CordonRow.cordoned)
    counts = select(s.host, func.count().label("rnics"), func.count(CordonRow.pci).label("cordoned"), func.max(s.seen_at).label("seen_at"))
    grouped = await session.execute(counts.select_from(rnic_state.outerjoin(CordonRow, cordon)).group_by(s.host))
    sick = await session.execute(select(s.host, s.pci, s.symptoms).where(s.symptoms != literal_column("'{}'::jsonb")))
    present: dict[str, list[Present]] = defaultdict(list)
    for row in sick:
        active = ((name, entry) for name, entry in row.symptoms.items() if symptoms.until(entry) is None)
        present[row.host] += [Present(row.pci, name, str(entry.get("severity"))) for name, entry in active]
    return {row.host: Host(row.rnics, row.cordoned, row.seen_at, present.get(row.host, ())) for row in grouped}


async def incidents(session: ReadSession, since: datetime, limit: int) -> Sequence[Row[Any]]:
    """Incidents that began, began again or were resolved since a time, and that webhooks hear of, too: the oldest change first."""
    i = IncidentRow
    began = and_(i.state != IncidentState.resolved, or_(i.opened_at >= since, i.reopened > 0))
    ended = and_(i.state == IncidentState.resolved, i.resolved_at >= since)
    query: Select[*tuple[Any, ...]] = (
        select(i.id, i.hosts, i.state, i.severity, i.title, i.opened_at, i.resolved_at, i.updated_at, i.reopened)
        .where(i.updated_at >= since, or_(began, ended))
        .where(i.merged_into.is_(None), i.suppressed_by.is_(None), i.inhibited_by.is_(None))
        .order_by(i.updated_at)
        .limit(limit)
    )
    return (await session.execute(query)).all()


async def unread_pods(session: ReadSession, since: datetime, most: int) -> list[str]:
    """Return `namespace/name` of pods that were given a virtual function and not read since, the newest first."""
    return list((await session.execute(_PODS, {"since": since, "most": most})).scalars())
