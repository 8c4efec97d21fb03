"""Queries by parts of names: one pass over 40,000 narrow rows, because no index helps with the middle of a name."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Row, Select, and_, case, func, literal_column, select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch.store.tables import event, rnic_state
from wallwatch.store.tables import host as host_table
from wallwatch_backend.kit.database import ReadSession

MOST_EVENTS = 20_000
"""Container events that are looked at: about 50 ms of work. A fleet that has more in a day finds only the newest pods."""
_ACTIVE: ColumnElement[list[str]] = literal_column(
    "ARRAY(SELECT key FROM jsonb_each(symptoms) WHERE value ->> 'until' IS NULL ORDER BY key)"
)


def _has_all(text: ColumnElement[str], words: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(text.icontains(word, autoescape=True) for word in words))


def _rank(name: ColumnElement[str], words: Sequence[str]) -> ColumnElement[int]:
    """A name that is the first word comes first, then one that begins with it."""
    lower = words[0].lower()
    return case((func.lower(name) == lower, 0), (func.lower(name).startswith(lower, autoescape=True), 1), else_=2)


async def rnics(session: ReadSession, words: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """RNICs whose host, PCI address, rack and model together have all words; of equal rank the sick first."""
    s = rnic_state.c
    text = func.concat_ws(" ", s.host, s.pci, s.rack, s.model)
    sick = s.symptoms != literal_column("'{}'::jsonb")
    query: Select[*tuple[Any, ...]] = select(s.host, s.pci, s.rack, s.model, _ACTIVE.label("symptoms")).where(_has_all(text, words))
    return (await session.execute(query.order_by(_rank(s.host, words), sick.desc(), s.host, s.pci).limit(limit))).all()


async def hosts(session: ReadSession, words: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    s = rnic_state.c
    query = select(s.host, func.max(s.rack).label("rack"), func.count().label("rnics")).where(_has_all(s.host, words)).group_by(s.host)
    return (await session.execute(query.order_by(_rank(s.host, words), s.host).limit(limit))).all()


async def pods(session: ReadSession, words: Sequence[str], since: datetime, limit: int) -> Sequence[Row[Any]]:
    """The newest attachment of each pod that matches, newest first."""
    e = event.c
    # The kinds are literals, so that the planner can use the partial index event_container_time.
    kinds = literal_column("kind IN ('cni_add', 'cni_del', 'host_booted')", type_=Boolean)
    newest = (
        select(e.time, e.host_id, e.pci, e.kind, e.other)
        .where(e.time >= since, kinds)
        .order_by(e.time.desc())
        .limit(MOST_EVENTS)
        .subquery()
    )
    pod, container = newest.c.other["pod"].astext, newest.c.other["container"].astext
    matching = (
        select(
            pod.label("pod"),
            container.label("container"),
            host_table.c.host,
            newest.c.pci,
            newest.c.other["device"].astext.label("device"),
            newest.c.time.label("attached_at"),
        )
        .join(host_table, host_table.c.host_id == newest.c.host_id)
        .where(newest.c.kind == "cni_add", pod != "", _has_all(func.concat_ws(" ", pod, container), words))
        .ext(distinct_on(pod))
        .order_by(pod, newest.c.time.desc())
        .subquery()
    )
    return (await session.execute(select(matching).order_by(matching.c.attached_at.desc()).limit(limit))).all()
