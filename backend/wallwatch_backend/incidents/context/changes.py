"""What changed on hosts: events, containers, settings, firmware, remedies, incidents."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.hosts.kubernetes import reports
from wallwatch_backend.hosts.kubernetes.reports import NvsentinelReportRow
from wallwatch_backend.incidents.context import repository
from wallwatch_backend.incidents.context.schemas import Change, Changes
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.remedy_history import AppliedRemedy, remedy_history
from wallwatch_backend.kit.database import ReadSession

MAX_ITEMS = 500
LONGEST = timedelta(days=1)
"""Changes of settings and firmware are found by comparing every sample with the one before it."""


async def changes_on(
    session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime, *, but: UUID | None = None
) -> list[Change]:
    """Return what changed on the hosts, oldest first; `but` is an incident that is left out."""
    changes = [
        *(_event(e) for e in await repository.events(session, hosts, since, until)),
        *(_setting(s) for s in await repository.max_idle_changes(session, hosts, since, until)),
        *(_firmware(f) for f in await repository.firmware_changes(session, hosts, since, until)),
        *(_remedy(at, r) for at, r in await remedy_history().applied_on_hosts(session, hosts, since, until)),
        *(_incident(i) for i in await repository.incidents(session, but, hosts, since, until)),
        *await _reports(session, hosts, since, until),
    ]
    changes.sort(key=lambda change: change.at)
    return changes


async def changes_of_rnic(session: ReadSession, host: str, pci: str, since: datetime, until: datetime) -> Changes:
    """Return what changed on an RNIC and on its whole host, but not on its neighbours."""
    start = max(since, until - LONGEST)
    changes = [change for change in await changes_on(session, [host], start, until) if change.pci in ("", pci)]
    truncated = start > since or len(changes) > MAX_ITEMS
    return Changes(**{"from": start, "to": until}, items=changes[-MAX_ITEMS:], truncated=truncated)


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


async def _reports(session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime) -> list[Change]:
    """What NVSentinel began, and ended, to say of the hosts; of an RNIC where it names one that is known."""
    found = await reports.begun_or_ended(session, hosts, since, until)
    if not found:
        return []
    addresses = await repository.addresses(session, {row.host for row in found})
    changes = []
    for row in found:
        known = {addresses[row.host, device] for device in row.devices if (row.host, device) in addresses}
        pci = known.pop() if len(known) == 1 else ""
        if since <= row.since <= until:
            changes.append(_report(row, pci, row.since, row.text))
        if row.until is not None and since <= row.until <= until:
            changes.append(_report(row, pci, row.until, "ended"))
    return changes


def _report(row: NvsentinelReportRow, pci: str, at: datetime, text: str) -> Change:
    said = f"NVSentinel: {row.name}{f': {text}' if text else ''}"
    return Change(at=at, kind="event", host=row.host, pci=pci, text=said, data={"kind": "nvsentinel", "name": row.name})


def _incident(i: IncidentRow) -> Change:
    text = f"Incident: {i.title} ({i.subject})."
    return Change(at=i.opened_at, kind="incident", host=i.host, pci=i.pci, text=text, data={"incident_id": str(i.id), "symptom": i.symptom})
