"""RNICs: the list, one RNIC, its masks and findings."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Row

from wallwatch.domain.catalogue import load
from wallwatch.store.state import stale_after_s
from wallwatch_backend.fleet.rnics import cordons, repository, symptoms
from wallwatch_backend.fleet.rnics.schemas import (
    ActiveSymptom,
    FindingInterval,
    KubernetesNode,
    MaskChains,
    MaskEntry,
    NodeReport,
    Rnic,
    RnicSummary,
    WallValue,
)
from wallwatch_backend.hosts.kubernetes import reports
from wallwatch_backend.hosts.kubernetes.models import KubernetesNodeRow
from wallwatch_backend.hosts.kubernetes.repository import node_of
from wallwatch_backend.incidents.context.changes import changes_of_rnic
from wallwatch_backend.incidents.context.repository import addresses
from wallwatch_backend.incidents.context.schemas import Changes
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import InvalidInput, NotFound

MASKS_MAX_AGE = timedelta(hours=1)  # an older chain is history; masks are sampled every 10 s
DEFAULT_SPAN = timedelta(hours=1)
_HEALTHY: dict[str, Literal["True", "False", "Unknown"]] = {"True": "True", "False": "False", "Unknown": "Unknown"}


async def list_rnics(
    session: ReadSession,
    *,
    host: str | None,
    rack: str | None,
    model: str | None,
    symptom: str | None,
    limit: int,
    cursor: str | None,
) -> Page[RnicSummary]:
    after: tuple[str, str] | None = None
    if cursor is not None:
        after_host, after_pci = decode_cursor(cursor, str, str)
        after = (str(after_host), str(after_pci))
    rows = await repository.page(session, host=host, rack=rack, model=model, symptom=symptom, after=after, limit=limit + 1)
    items = [_summary(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].host, items[-1].pci) if len(rows) > limit else None)


def _summary(row: Row[Any]) -> RnicSummary:
    active, recent = symptoms.split(row.symptoms, clock.now())
    return RnicSummary(
        host=row.host,
        pci=row.pci,
        rack=row.rack or None,
        model=row.model,
        headroom=row.headroom,
        nearest_wall=row.nearest_wall,
        symptoms=active,
        recent=recent,
        seen_at=row.seen_at,
        cordoned=row.cordoned,
        tx_gbps=row.tx_gbps,
        rx_gbps=row.rx_gbps,
    )


def walls_of(stored: dict[str, dict[str, Any]] | None) -> list[WallValue]:
    """Return every wall of the catalogue; one that could not be measured has no value, never zero.

    >>> [w.value for w in walls_of({"egress_masks": {"value": 3, "limit": 10, "headroom": 0.7, "basis": "model"}})]
    [None, 3.0, None, None, None]
    """
    values = []
    for wall in load.walls().values():
        reading = (stored or {}).get(wall.id, {})
        values.append(
            WallValue(
                wall=wall.id,
                label=wall.label,
                unit=wall.unit,
                value=reading.get("value"),
                limit=reading.get("limit"),
                headroom=reading.get("headroom"),
                basis=reading.get("basis"),
                leads_to=list(wall.leads_to),
            )
        )
    return values


async def identity_of(session: ReadSession, host: str, pci: str) -> Row[Any]:
    """Return the row of the table `rnic`, or raise `NotFound`."""
    row = await repository.identity(session, host, pci)
    if row is None:
        raise NotFound(f"No telemetry from RNIC {pci} of host {host} has been received.")
    return row


async def get_rnic(session: ReadSession, host: str, pci: str, sampling_interval_s: float) -> Rnic:
    identity = await identity_of(session, host, pci)
    state = await repository.state(session, host, pci)
    agent = await repository.agent_of(session, host)
    node = await node_of(session, host)
    said = await reports.present(session, host, clock.now()) if node is not None else []
    incidents = await repository.open_incidents(session, host, pci)
    cordoned, _ = await cordons.cordon_of(session, host, pci)
    stored = (state.symptoms or {}) if state is not None else {}
    active, recent = symptoms.split(stored, clock.now())
    return Rnic(
        host=host,
        pci=pci,
        rack=identity.rack or None,
        model=identity.model,
        driver=identity.driver,
        firmware=identity.fw_ver,
        ibdev=identity.ibdev,
        netdev=identity.netdev,
        pci_id=identity.pci_id,
        board_id=identity.board_id,
        link_layer=identity.link_layer,
        seen_at=state.seen_at if state is not None else None,
        stale_after_s=stale_after_s(sampling_interval_s),
        headroom=state.headroom if state is not None else None,
        nearest_wall=state.nearest_wall if state is not None else None,
        cordoned=cordoned,
        node=_node(node, said, pci, await addresses(session, [host]) if said else {}) if node is not None else None,
        agent_id=agent.id if agent is not None else None,
        agent_connected=agent is not None and agent.connected,
        tx_gbps=state.tx_gbps if state is not None else None,
        rx_gbps=state.rx_gbps if state is not None else None,
        walls=walls_of(state.walls if state is not None else None),
        symptoms=[
            ActiveSymptom(
                symptom=symptom,
                since=stored[symptom].get("since"),
                until=symptoms.until(stored[symptom]),
                severity=stored[symptom].get("severity"),
                incident_id=incidents.get(symptom),
            )
            for symptom in [*active, *recent]
        ],
    )


def _node(
    row: KubernetesNodeRow, said: Sequence[reports.NvsentinelReportRow], pci: str, addresses: Mapping[tuple[str, str], str]
) -> KubernetesNode:
    """Leave out what is about other RNICs of the host. A report that names none of them, but a GPU's PCI address, say, is of the node."""

    def concerns(report: reports.NvsentinelReportRow) -> bool:
        named = {addresses[row.host, device] for device in report.devices if (row.host, device) in addresses}
        return not named or pci in named

    return KubernetesNode(
        zone=row.zone,
        instance_type=row.instance_type,
        healthy=_HEALTHY.get(row.healthy or ""),
        reason=row.reason,
        tainted=row.tainted,
        unschedulable=row.unschedulable,
        nvsentinel=[NodeReport(name=each.name, since=each.since, text=each.text, devices=each.devices) for each in said if concerns(each)],
        read_at=row.read_at,
    )


async def get_masks(session: ReadSession, host: str, pci: str) -> MaskChains:
    identity = await identity_of(session, host, pci)
    rows = await repository.newest_masks(session, identity.rnic_id, clock.now() - MASKS_MAX_AGE)
    chains: dict[str, list[MaskEntry]] = {"egress": [], "ingress": []}
    for row in rows:
        entry = MaskEntry(
            position=row.position, mask=row.mask, match=row.match, flows=row.flows, packets=row.packets_per_s, length_bits=row.length_bits
        )
        chains.setdefault(row.direction, []).append(entry)
    return MaskChains(at=max((row.time for row in rows), default=None), egress=chains["egress"], ingress=chains["ingress"])


def interval(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    """Fill in the defaults: until now, and one hour before that."""
    end = until or clock.now()
    start = since or end - DEFAULT_SPAN
    if start >= end:
        raise InvalidInput("`from` must be before `to`.")
    return start, end


async def list_findings(session: ReadSession, host: str, pci: str, since: datetime | None, until: datetime | None) -> list[FindingInterval]:
    identity = await identity_of(session, host, pci)
    start, end = interval(since, until)
    return [
        FindingInterval(
            finding_id=row.finding_id,
            symptom=row.symptom,
            **{"from": row.started_at, "to": row.cleared_at},
            severity=_worst(row.severities),
            incident_id=row.incident_id,
        )
        for row in await repository.findings(session, identity, start, end)
    ]


async def list_changes(session: ReadSession, host: str, pci: str, since: datetime | None, until: datetime | None) -> Changes:
    await identity_of(session, host, pci)
    return await changes_of_rnic(session, host, pci, *interval(since, until))


def _worst(severities: list[str]) -> Literal["warning", "critical"]:
    return "critical" if "critical" in severities else "warning"
