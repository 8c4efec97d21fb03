"""What surrounds an incident: the containers that it reaches, and what changed before it began."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import context_repository, repository, service
from wallwatch_backend.incidents.context_schemas import Before, Change, Container, Containers
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

BEFORE = timedelta(minutes=15)
MOST_HOSTS = 50
MOST_ITEMS = 500


async def _row(session: ReadSession, incident_id: UUID) -> IncidentRow:
    return service.found(await repository.one(session, incident_id), incident_id)


async def containers(session: ReadSession, incident_id: UUID) -> Containers:
    row = await _row(session, incident_id)
    until = row.over_since or row.resolved_at or clock.now()
    hosts = row.hosts[:MOST_HOSTS]
    rnics = await context_repository.rnics(session, incident_id)
    # A finding that names no RNIC, or says that the whole host suffers, reaches every RNIC of its host.
    whole = {host for host, pci, radius in rnics if not pci or radius == "host"}
    named = {(host, pci) for host, pci, _ in rnics}
    events = await context_repository.cni_events(session, hosts, until)
    here = [c for c in occupancy(events, row.opened_at) if c.host in whole or (c.host, c.pci) in named]
    truncated = len(row.hosts) > MOST_HOSTS or len(here) > MOST_ITEMS or len(events) == context_repository.MOST_EVENTS
    return Containers(at=row.opened_at, items=here[:MOST_ITEMS], truncated=truncated)


def occupancy(events: Iterable[Any], since: datetime) -> list[Container]:
    """Containers that had a virtual function at `since` or later, from ADD and DEL in the order of their time.

    A function has one container at a time: the next ADD ends what an unseen DEL left open. A refused ADD gave nothing.
    """
    present: dict[tuple[str, str], Container] = {}
    gone: list[Container] = []

    def end(key: tuple[str, str], at: datetime) -> None:
        container = present.pop(key, None)
        if container is not None and at >= since:
            gone.append(container.model_copy(update={"until": at}))

    for event in events:
        other = event.other or {}
        container = other.get("container")
        if not container:
            continue
        vf = other.get("device")
        key = (event.host, vf or f"{container} {other.get('interface')}")
        if event.kind == "cni_del":
            if key in present and present[key].container == container:
                end(key, event.time)
        elif other.get("result") != "refused":
            end(key, event.time)
            present[key] = Container(
                host=event.host,
                pci=event.pci,
                vf=vf,
                container=container,
                pod=other.get("pod"),
                address=other.get("address"),
                vxlan_network=other.get("vxlan_network"),
                since=event.time,
                until=None,
            )
    return sorted([*present.values(), *gone], key=lambda c: (c.host, c.pci, c.vf or "", c.since))


async def before(session: ReadSession, incident_id: UUID) -> Before:
    row = await _row(session, incident_id)
    since, until = row.opened_at - BEFORE, row.opened_at
    hosts = row.hosts[:MOST_HOSTS]
    found = [
        *(_event(e) for e in await context_repository.events(session, hosts, since, until)),
        *(_setting(s) for s in await context_repository.max_idle_changes(session, hosts, since, until)),
        *(_firmware(f) for f in await context_repository.firmware_changes(session, hosts, since, until)),
        *(_remedy(r) for r in await context_repository.remedies(session, hosts, since, until)),
        *(_incident(i) for i in await context_repository.incidents(session, row.id, hosts, since, until)),
    ]
    found.sort(key=lambda change: change.at)
    truncated = len(found) > MOST_ITEMS or len(row.hosts) > MOST_HOSTS
    return Before(**{"from": since, "to": until}, items=found[-MOST_ITEMS:], truncated=truncated)


def _event(e: Any) -> Change:
    return Change(
        at=e.time,
        kind="container" if e.kind.startswith("cni_") else "event",
        host=e.host,
        pci=e.pci,
        text=e.detail or e.kind,
        data={"kind": e.kind, **(e.other or {})},
    )


def _setting(s: Any) -> Change:
    text = f"max-idle changed from {s.before} ms to {s.after} ms."
    return Change(
        at=s.time, kind="setting", host=s.host, pci="", text=text, data={"signal": "max_idle_ms", "before": s.before, "after": s.after}
    )


def _firmware(f: Any) -> Change:
    text = f"Stored firmware changed from {f.before} to {f.after}; it starts with the next reset."
    return Change(at=f.time, kind="firmware", host=f.host, pci=f.pci, text=text, data={"before": f.before, "after": f.after})


def _remedy(r: Any) -> Change:
    params = ", ".join(f"{name} = {value}" for name, value in sorted(r.params.items()))
    text = f"{r.action} ({params}) was applied, asked for by {r.requested_by}."
    return Change(at=r.applied_at, kind="remedy", host=r.host, pci=r.pci or "", text=text, data={"remedy_id": str(r.id), "state": r.state})


def _incident(i: Any) -> Change:
    text = f"Incident: {i.title} ({i.subject})."
    return Change(at=i.opened_at, kind="incident", host=i.host, pci=i.pci, text=text, data={"incident_id": str(i.id), "symptom": i.symptom})
