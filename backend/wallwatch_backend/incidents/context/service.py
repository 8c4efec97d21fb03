"""The context of an incident: affected containers, and changes before it started."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents.context import repository
from wallwatch_backend.incidents.context.schemas import Before, Change, Container, Containers
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.remedy_history import AppliedRemedy, remedy_history
from wallwatch_backend.incidents.service import require
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

BEFORE = timedelta(minutes=15)
MAX_HOSTS = 50
MAX_ITEMS = 500


async def containers(session: ReadSession, incident_id: UUID) -> Containers:
    row = await require(session, incident_id)
    until = row.cleared_at or row.resolved_at or clock.now()
    hosts = row.hosts[:MAX_HOSTS]
    rnics = await repository.rnics(session, incident_id)
    # A finding without an RNIC, or with the blast radius "host", affects every RNIC of its host.
    whole_hosts = {host for host, pci, radius in rnics if not pci or radius == "host"}
    named = {(host, pci) for host, pci, _ in rnics}
    events = await repository.cni_events(session, hosts, until)
    affected = [c for c in occupancy(events, row.opened_at) if c.host in whole_hosts or (c.host, c.pci) in named]
    truncated = len(row.hosts) > MAX_HOSTS or len(affected) > MAX_ITEMS or len(events) == repository.MAX_EVENTS
    return Containers(at=row.opened_at, items=affected[:MAX_ITEMS], truncated=truncated)


def occupancy(events: Iterable[Any], since: datetime) -> list[Container]:
    """Containers with a virtual function at `since` or later, from ADD and DEL events in order of time.

    A function has one container at a time: the next ADD ends an assignment whose DEL is missing. A refused ADD assigned nothing.
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
    row = await require(session, incident_id)
    since, until = row.opened_at - BEFORE, row.opened_at
    hosts = row.hosts[:MAX_HOSTS]
    changes = [
        *(_event(e) for e in await repository.events(session, hosts, since, until)),
        *(_setting(s) for s in await repository.max_idle_changes(session, hosts, since, until)),
        *(_firmware(f) for f in await repository.firmware_changes(session, hosts, since, until)),
        *(_remedy(at, r) for at, r in await remedy_history().applied_on_hosts(session, hosts, since, until)),
        *(_incident(i) for i in await repository.incidents(session, row.id, hosts, since, until)),
    ]
    changes.sort(key=lambda change: change.at)
    truncated = len(changes) > MAX_ITEMS or len(row.hosts) > MAX_HOSTS
    return Before(**{"from": since, "to": until}, items=changes[-MAX_ITEMS:], truncated=truncated)


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
    text = f"Stored firmware changed from {f.before} to {f.after}; it takes effect at the next reset."
    return Change(at=f.time, kind="firmware", host=f.host, pci=f.pci, text=text, data={"before": f.before, "after": f.after})


def _remedy(at: datetime, r: AppliedRemedy) -> Change:
    params = ", ".join(f"{name} = {value}" for name, value in sorted(r.params.items()))
    text = f"{r.action} ({params}) was applied, requested by {r.requested_by}."
    return Change(at=at, kind="remedy", host=r.host, pci=r.pci or "", text=text, data={"remedy_id": str(r.id), "state": r.state})


def _incident(i: IncidentRow) -> Change:
    text = f"Incident: {i.title} ({i.subject})."
    return Change(at=i.opened_at, kind="incident", host=i.host, pci=i.pci, text=text, data={"incident_id": str(i.id), "symptom": i.symptom})
