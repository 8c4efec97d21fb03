"""Queries by parts of names: a pass over the narrow table of RNICs, because no index helps with the middle of a name."""

from collections.abc import Sequence
from datetime import datetime
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Row, Select, and_, case, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch.store.tables import event, rnic, rnic_state
from wallwatch.store.tables import host as host_table
from wallwatch_backend.hosts.kubernetes.models import KubernetesNodeRow, KubernetesPodRow
from wallwatch_backend.kit.database import ReadSession

MOST_CANDIDATES = 500
"""Of the RNICs that match, those among which the sick come first: text that matches the fleet would have its whole state read."""
MOST_EVENTS = 10_000
"""Container events that are looked at, about 25 ms of work. A fleet that has more in a day finds only the newest pods."""
_ACTIVE: ColumnElement[list[str]] = literal_column(
    "ARRAY(SELECT key FROM jsonb_each(rnic_state.symptoms) WHERE value ->> 'until' IS NULL ORDER BY key)"
)
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def _lower(text: ColumnElement[str]) -> ColumnElement[str]:
    """In the collation C, which compares bytes: five times as fast as that of a language, and names are ASCII."""
    return func.lower(text.collate("C"))


def _has_all(text: ColumnElement[str], words: Sequence[str]) -> ColumnElement[bool]:
    lower = _lower(text)
    return and_(true(), *(lower.contains(word.translate(_ASCII_LOWER), autoescape=True) for word in words))


def _has_all_or_labels(text: ColumnElement[str], labels: Any, words: Sequence[str]) -> ColumnElement[bool]:
    """As `_has_all`; words with an equals sign, such as app=trainer, are labels of Kubernetes, which must be exactly so."""
    pairs = dict(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word]
    return and_(_has_all(text, names), labels.contains(pairs)) if pairs else _has_all(text, names)


def _rank(name: ColumnElement[str], words: Sequence[str]) -> ColumnElement[int]:
    """A name that is the first word comes first, then one that begins with it."""
    first, lower = words[0].translate(_ASCII_LOWER), _lower(name)
    return case((lower == first, 0), (lower.startswith(first, autoescape=True), 1), else_=2)


async def rnics(session: ReadSession, words: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """RNICs whose host, PCI address, rack and model together have all words; of equal rank the sick first."""
    r, s = rnic.c, rnic_state.c
    text = func.concat_ws(" ", r.host, r.pci, r.rack, r.model)
    rank = _rank(r.host, words).label("rank")
    named = select(r.rnic_id, r.host, r.pci, r.rack, r.model, rank).where(_has_all(text, words))
    candidate = named.order_by(rank, r.host, r.pci).limit(MOST_CANDIDATES).subquery()
    sick = s.symptoms != literal_column("'{}'::jsonb")
    c = candidate.c
    query = select(c.host, c.pci, c.rack, c.model, _ACTIVE.label("symptoms"))
    query = query.select_from(candidate.join(rnic_state, s.rnic_id == c.rnic_id))
    return (await session.execute(query.order_by(c.rank, sick.desc(), c.host, c.pci).limit(limit))).all()


async def hosts(session: ReadSession, words: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """Hosts whose name, zone and instance type together have all words, with the number of their RNICs; one without any is found, too."""
    h, r, n = host_table.c, rnic.c, KubernetesNodeRow
    matching = _has_all_or_labels(func.concat_ws(" ", h.host, n.zone, n.instance_type), n.labels, words)
    rank = _rank(h.host, words).label("rank")
    named = select(h.host, h.rack, n.zone, n.instance_type, rank).select_from(host_table.outerjoin(n, n.host == h.host))
    first = named.where(matching).order_by(rank, h.host).limit(limit).subquery()
    count = select(func.count()).where(r.host == first.c.host).scalar_subquery()
    query: Select[*tuple[Any, ...]] = select(first.c.host, first.c.rack, first.c.zone, first.c.instance_type, count.label("rnics"))
    return (await session.execute(query.order_by(first.c.rank, first.c.host))).all()


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
    known = KubernetesPodRow
    text = func.concat_ws(" ", pod, container, known.owner)
    matching = (
        select(
            pod.label("pod"),
            known.owner.label("owner"),
            container.label("container"),
            newest.c.host_id,
            newest.c.pci,
            newest.c.other["device"].astext.label("device"),
            newest.c.time.label("attached_at"),
        )
        .select_from(newest.outerjoin(known, known.pod == pod))
        .where(newest.c.kind == "cni_add", pod != "", _has_all_or_labels(text, known.labels, words))
        .ext(distinct_on(pod))
        .order_by(pod, newest.c.time.desc())
        .subquery()
    )
    last = select(matching).order_by(matching.c.attached_at.desc()).limit(limit).subquery()
    query = select(last, host_table.c.host).join(host_table, host_table.c.host_id == last.c.host_id)
    return (await session.execute(query.order_by(last.c.attached_at.desc()))).all()
