"""Counts what each host has, and asks the statistics."""

from datetime import timedelta
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.commonalities import Dimension, Property, shared_properties
from wallwatch_backend.fleet.commonalities import repository
from wallwatch_backend.fleet.commonalities.schemas import Commonalities, Commonality, FleetDetails
from wallwatch_backend.incidents.remedy_history import remedy_history
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput

RECENT_CHANGE = timedelta(hours=1)


async def commonalities(session: ReadSession, symptoms: list[str]) -> Commonalities:
    """Return what hosts with an active symptom share; `symptoms` restricts which ones count."""
    rows = await repository.rnics(session)
    properties: dict[str, set[Property]] = {}
    sick: set[str] = set()
    for row in rows:
        of_host = properties.setdefault(row.host, set())
        of_host |= {Property(name, value) for name, value in _place(row) if value}
        if any(not symptoms or symptom in symptoms for symptom in row.symptoms or ()):
            sick.add(row.host)
    if sick:
        for host, change in await _changes(session, list(properties)):
            if host in properties:
                properties[host].add(Property("change", change))
    shared, tested = shared_properties(properties, sick)
    items = [
        Commonality(
            dimension=each.property.dimension,
            value=each.property.value,
            sick_with=each.sick_with,
            all_with=each.all_with,
            lift=each.lift,
            chance=each.chance,
        )
        for each in shared
    ]
    return Commonalities(hosts=len(properties), sick=len(sick), tested=tested, items=items)


def _place(row: Any) -> list[tuple[Dimension, str | None]]:
    tenants: list[tuple[Dimension, str | None]] = [("tenant", tenant) for tenant in row.tenants]
    return [("model", row.model), ("firmware", row.fw_ver), ("rack", row.rack), *tenants]


async def _changes(session: ReadSession, hosts: list[str]) -> list[tuple[str, str]]:
    until = clock.now()
    since = until - RECENT_CHANGE
    remedies = await remedy_history().applied_on_hosts(session, hosts, since, until)
    return [
        *((row.host, row.kind) for row in await repository.kinds_of_events(session, since, until)),
        *((remedy.host, f"remedy {remedy.action}") for _, remedy in remedies),
    ]


async def details(session: ReadSession, wall: str | None) -> FleetDetails:
    if wall is not None and wall not in load.walls():
        raise InvalidInput(f"{wall!r} is not a wall; GET /api/v1/catalogue lists them.")
    rows = await repository.details(session, wall)
    return FleetDetails(
        host=[row.host for row in rows],
        pci=[row.pci for row in rows],
        firmware=[row.fw_ver for row in rows],
        tenants=[row.tenants for row in rows],
        headroom=[None if row.headroom is None else round(row.headroom, 4) for row in rows],
    )
