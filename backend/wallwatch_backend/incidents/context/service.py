"""The context of an incident: affected containers, and changes before it started."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.hosts.kubernetes.repository import pods_of
from wallwatch_backend.incidents.context import repository
from wallwatch_backend.incidents.context.changes import MAX_ITEMS, changes_on
from wallwatch_backend.incidents.context.schemas import Before, Container, Containers
from wallwatch_backend.incidents.service import require
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

BEFORE = timedelta(minutes=15)
MAX_HOSTS = 50


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
    return Containers(at=row.opened_at, items=await _with_owners(session, affected[:MAX_ITEMS]), truncated=truncated)


async def _with_owners(session: ReadSession, affected: Sequence[Container]) -> list[Container]:
    """Add what Kubernetes says of their pods, where Wallwatch may read pods."""
    pods = await pods_of(session, list({each.pod for each in affected if each.pod}))
    return [
        each.model_copy(update={"owner": pod.owner, "labels": pod.labels}) if (pod := pods.get(each.pod or "")) is not None else each
        for each in affected
    ]


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
                owner=None,
                labels={},
                address=other.get("address"),
                vxlan_network=other.get("vxlan_network"),
                since=event.time,
                until=None,
            )
    return sorted([*present.values(), *gone], key=lambda c: (c.host, c.pci, c.vf or "", c.since))


async def before(session: ReadSession, incident_id: UUID) -> Before:
    row = await require(session, incident_id)
    since, until = row.opened_at - BEFORE, row.opened_at
    changes = await changes_on(session, row.hosts[:MAX_HOSTS], since, until, but=row.id)
    truncated = len(changes) > MAX_ITEMS or len(row.hosts) > MAX_HOSTS
    return Before(**{"from": since, "to": until}, items=changes[-MAX_ITEMS:], truncated=truncated)
