"""Broken promises over the fleet."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.hosts.kubernetes.models import KubernetesPodRow
from wallwatch_backend.hosts.kubernetes.repository import pods_of
from wallwatch_backend.isolation.breakage import repository
from wallwatch_backend.isolation.breakage.schemas import (
    AggressorSeconds,
    FleetIsolation,
    HostBreakage,
    Pair,
    RnicBreakage,
    TenantBreakage,
    VfBreakage,
    VictimSeconds,
)
from wallwatch_backend.isolation.schemas import MechanismSeconds
from wallwatch_backend.kit.database import ReadSession

_MOST = 10
_MOST_OF_FLEET = 100


async def fleet(session: ReadSession, since: datetime, until: datetime, limit: int) -> FleetIsolation:
    await session.one_transaction("REPEATABLE READ")  # sums and their parts are of one moment
    rows = await repository.worst(session, since, until, limit)
    rnics = [row.rnic_id for row in rows]
    mechanisms = _by_rnic(await repository.mechanisms(session, rnics, since, until)) if rnics else {}
    victims = _by_rnic(await repository.victims(session, rnics, since, until)) if rnics else {}
    aggressors = _by_rnic(await repository.aggressors(session, rnics, since, until)) if rnics else {}
    pairs = _by_rnic(await repository.pairs(session, rnics, since, until)) if rnics else {}
    hosts = await repository.hosts(session, since, until, _MOST_OF_FLEET) if rows else []
    top_victims = await repository.top_victims(session, since, until, _MOST_OF_FLEET) if rows else []
    top_aggressors = await repository.top_aggressors(session, since, until, _MOST_OF_FLEET) if rows else []
    pods = await pods_of(session, list({row.pod for row in (*top_victims, *top_aggressors) if row.pod}))
    tenants = [_tenant(row) for row in await repository.tenants(session, since, until)]
    return FleetIsolation(
        since=since,
        until=until,
        broken_s=rows[0].of_all if rows else 0.0,
        unknown_s=sum(tenant.unknown_s for tenant in tenants),
        rnics=[
            RnicBreakage(
                host=row.host,
                pci=row.pci,
                rack=row.rack or None,
                model=row.model,
                broken_s=row.broken_s,
                estimated_s=row.estimated_s,
                last_broken_at=row.last,
                mechanisms=[MechanismSeconds(mechanism=one.mechanism, seconds=one.seconds) for one in mechanisms.get(row.rnic_id, [])],
                victims=[VictimSeconds(**_who(one), broken_s=one.seconds) for one in victims.get(row.rnic_id, [])[:_MOST]],
                aggressors=[AggressorSeconds(**_who(one), aggressor_s=one.seconds) for one in aggressors.get(row.rnic_id, [])[:_MOST]],
                pairs=[
                    Pair(aggressor_vf=one.aggressor_vf, victim_vf=one.victim_vf, seconds=one.seconds)
                    for one in pairs.get(row.rnic_id, [])[:_MOST]
                ],
            )
            for row in rows
        ],
        rnics_total=rows[0].total if rows else 0,
        hosts=[
            HostBreakage(host=row.host, rack=row.rack or None, rnics=row.rnics, broken_s=row.broken_s, last_broken_at=row.last)
            for row in hosts
        ],
        victims=[_vf(row, pods) for row in top_victims],
        aggressors=[_vf(row, pods) for row in top_aggressors],
        tenants=tenants,
    )


def _by_rnic(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.rnic_id, []).append(row)
    return found


def _who(row: Row[Any]) -> dict[str, Any]:
    return {"vf": row.vf, "pod": row.pod or None, "tenant": row.tenant or None}


def _vf(row: Row[Any], pods: Mapping[str, KubernetesPodRow]) -> VfBreakage:
    pod = pods.get(row.pod or "")
    owner, labels = (pod.owner, pod.labels) if pod is not None else (None, {})
    return VfBreakage(host=row.host, pci=row.pci, seconds=row.seconds, **_who(row), owner=owner, labels=labels)


def _tenant(row: Row[Any]) -> TenantBreakage:
    judged = row.kept_s + row.broken_s
    return TenantBreakage(
        tenant=row.tenant or None,
        vfs=row.vfs,
        broken_s=row.broken_s,
        aggressor_s=row.aggressor_s,
        unknown_s=row.unknown_s,
        kept_share=row.kept_s / judged if judged else None,
    )
