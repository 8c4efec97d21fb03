"""The VFs of one RNIC: now, over time, and one in detail."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.fleet.rnics.service import identity_of
from wallwatch_backend.fleet.vfs.repository import counts
from wallwatch_backend.hosts.kubernetes.repository import pods_of
from wallwatch_backend.isolation.schemas import Aggressor, Victim
from wallwatch_backend.isolation.vfs import repository
from wallwatch_backend.isolation.vfs.holders import holders
from wallwatch_backend.isolation.vfs.schemas import (
    BrokenInterval,
    Holder,
    IsolationStrip,
    RnicIsolation,
    VfHistory,
    VfIsolation,
    VfPoint,
    VfStrip,
)
from wallwatch_backend.isolation.vfs.strip import MINUTE_S, Cells
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput, NotFound

STALE_AFTER = timedelta(minutes=3)
"""A calm RNIC sends its state once per minute."""
_STEPS = 300
_MOST_STEPS = 3_600
_MOST_INTERVALS = 500
_MOST_EVENTS = 500
_DEVICE_SINCE = timedelta(days=7)
_COUNTED_SINCE = timedelta(hours=1)
"""An RNIC that counts its VFs does so with every sample. Others (node_exporter, DTS) never do: the look for a number must not read a day
of their samples, nor unpack hours."""
_UNREPORTED: dict[str, Any] = {"slo": None, "state": "unknown", "role": None, "reason": "The RNIC has not reported this VF lately."}


async def get_rnic(session: ReadSession, host: str, pci: str) -> RnicIsolation:
    identity = await identity_of(session, host, pci)
    row = await repository.now(session, identity.rnic_id)
    at = clock.now()
    midnight = _midnight(at)
    suffered = await repository.suffered(session, identity.rnic_id, midnight, at)
    took = await repository.took(session, identity.rnic_id, midnight, at)
    broken_s = await repository.broken_s(session, identity.rnic_id, midnight, at)
    counted = await counts(session, identity.rnic_id, at - _COUNTED_SINCE)
    numvfs = counted.sriov_numvfs if counted is not None else None
    shown = {"host": host, "pci": pci, "model": identity.model, "broken_s_today": broken_s, "numvfs": numvfs}
    if row is None:
        return RnicIsolation(**shown, port_mbps=None, at=None, stale=False, doubt=None, mechanism=None, load=None, vfs=[])
    if counted is not None and numvfs == 0 and counted.time > row.at:  # all of them were removed since
        return RnicIsolation(**shown, port_mbps=row.port_mbps, at=row.at, stale=False, doubt=None, mechanism=None, load=None, vfs=[])
    return RnicIsolation(
        **shown,
        port_mbps=row.port_mbps,
        at=row.at,
        stale=at - row.at > STALE_AFTER,
        doubt=row.doubt,
        mechanism=row.mechanism,
        load=row.load,
        vfs=[_vf(one, suffered, took) for one in sorted(row.vfs, key=lambda one: int(one["vf"]))],
    )


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _vf(found: dict[str, Any], suffered: dict[int, float], took: dict[int, float]) -> VfIsolation:
    vf = found["vf"]
    fields = {name: found.get(name) for name in VfIsolation.model_fields}
    today = {"broken_s_today": suffered.get(vf, 0.0), "aggressor_s_today": took.get(vf, 0.0)}
    texts = {"pod": found.get("pod") or None, "tenant": found.get("tenant") or None, "reason": found.get("reason") or None}
    return VfIsolation.model_validate({**fields, **texts, "namespace": texts["tenant"], **today})


async def get_strip(session: ReadSession, host: str, pci: str, since: datetime, until: datetime, step_s: int | None) -> IsolationStrip:
    identity = await identity_of(session, host, pci)
    span_s = (until - since).total_seconds()
    step_s = step_s or _step_s(span_s)
    if span_s / step_s > _MOST_STEPS:
        raise InvalidInput(f"The interval has more than {_MOST_STEPS:,} steps of {step_s} s: choose a longer step or a shorter interval.")
    if step_s > MINUTE_S and step_s % MINUTE_S:
        raise InvalidInput("`step_s` above 60 must be a number of whole minutes.")
    if step_s < MINUTE_S and MINUTE_S % step_s:
        raise InvalidInput("`step_s` below 60 must divide a minute: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30.")
    cells = Cells(step_s)
    for row in await repository.minutes(session, identity.rnic_id, _aligned(since, max(step_s, MINUTE_S)), until, step_s):
        cells.add_minutes(row)
    if step_s < MINUTE_S:
        intervals = await repository.intervals(session, identity.rnic_id, since, until)
        for row in intervals:
            cells.add_interval(row.vf, row.time, row.interval_s, suffered=True)
            cells.who[row.vf] = (row.pod, row.tenant)
        for at, one in _aggressors_once(intervals):
            cells.add_interval(one["vf"], at, one["interval_s"], suffered=False)
    first = _aligned(since, step_s)
    strips = []
    for vf in cells.vfs:
        pod, tenant = cells.who.get(vf, ("", ""))
        shown = [cell for cell in cells.of(vf) if first <= cell.at < until]
        strips.append(VfStrip(vf=vf, pod=pod or None, tenant=tenant or None, cells=shown))
    return IsolationStrip(since=since, until=until, step_s=step_s, vfs=strips)


def _aggressors_once(rows: Iterable[Row[Any]]) -> list[tuple[datetime, dict[str, Any]]]:
    """The aggressors of each interval, once per interval: every victim's row has them."""
    found: dict[datetime, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.time, [{**one, "interval_s": row.interval_s} for one in row.aggressors])
    return [(at, one) for at, several in found.items() for one in several]


def _step_s(span_s: float) -> int:
    """The shortest step that gives at most 300 cells.

    >>> [_step_s(s) for s in (120, 600, 3600, 7200, 86400, 2592000)]
    [1, 2, 12, 30, 300, 8640]
    """
    wanted = span_s / _STEPS
    return (
        next((step for step in (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, MINUTE_S) if step >= wanted), 0)
        or -(-int(wanted) // MINUTE_S) * MINUTE_S
    )


def _aligned(at: datetime, step_s: int) -> datetime:
    return at - timedelta(seconds=at.timestamp() % step_s)


async def get_vf(session: ReadSession, host: str, pci: str, vf: int, since: datetime, until: datetime) -> VfHistory:
    identity = await identity_of(session, host, pci)
    rnic = await get_rnic(session, host, pci)
    step_s = max(MINUTE_S, _step_s((until - since).total_seconds()))
    series = await repository.series(session, identity.rnic_id, vf, _aligned(since, step_s), until, step_s)
    now = next((one for one in rnic.vfs if one.vf == vf), None)
    if now is None and not series:
        raise NotFound(f"No traffic of VF {vf} on RNIC {pci} of host {host} has been received in this interval.")
    total, rows = await repository.intervals_of(session, identity.rnic_id, vf, since, until, _MOST_INTERVALS)
    latest = now.model_dump() if now is not None else await _gone(session, identity.rnic_id, vf, series[-1])
    return VfHistory(
        **latest,
        host=host,
        pci=pci,
        at=rnic.at,
        step_s=step_s,
        series=[VfPoint.model_validate({name: getattr(row, name) for name in VfPoint.model_fields}) for row in series],
        broken=_intervals(vf, rows),
        broken_total=total,
        holders=await _holders(session, identity.rnic_id, host, vf, since, until),
    )


async def _gone(session: ReadSession, rnic_id: int, vf: int, last: Row[Any]) -> dict[str, Any]:
    """A VF that the newest state of its RNIC does not have: its seconds of today still count."""
    at = clock.now()
    suffered = await repository.suffered(session, rnic_id, _midnight(at), at)
    took = await repository.took(session, rnic_id, _midnight(at), at)
    empty = dict.fromkeys(VfIsolation.model_fields)
    who = {"vf": vf, "pod": last.pod or None, "namespace": last.tenant or None, "tenant": last.tenant or None}
    return {**empty, **_UNREPORTED, **who, "broken_s_today": suffered.get(vf, 0.0), "aggressor_s_today": took.get(vf, 0.0)}


def _intervals(vf: int, rows: Iterable[Row[Any]]) -> list[BrokenInterval]:
    by_time: dict[datetime, list[Row[Any]]] = {}
    for row in rows:
        by_time.setdefault(row.time, []).append(row)
    found = []
    for at, several in by_time.items():
        own = next((row for row in several if row.vf == vf), None)
        one = own if own is not None else several[0]
        found.append(
            BrokenInterval(
                at=at,
                interval_s=one.interval_s,
                estimated=one.estimated,
                mechanism=one.mechanism,
                reason=own.reason if own is not None else "It takes more than its fair share, and others suffer.",
                role="victim" if own is not None else "aggressor",
                aggressors=[_aggressor(each) for each in one.aggressors],
                victims=[Victim(vf=row.vf, pod=row.pod or None, tenant=row.tenant or None, reason=row.reason) for row in several],
            )
        )
    return found


def _aggressor(found: dict[str, Any]) -> Aggressor:
    return Aggressor(
        vf=found["vf"],
        pod=found.get("pod") or None,
        tenant=found.get("tenant") or None,
        share=found.get("share"),
        fair_share=found.get("fair_share"),
    )


async def _holders(session: ReadSession, rnic_id: int, host: str, vf: int, since: datetime, until: datetime) -> list[Holder]:
    device = await repository.device_of(session, rnic_id, vf, since - _DEVICE_SINCE)
    if device is None:
        return []
    events = await repository.holding_events(session, host, device, until, _MOST_EVENTS)
    found = holders(((row.time, row.kind, row.other or {}) for row in reversed(events)), since)
    pods = await pods_of(session, list({holder.pod for holder in found if holder.pod}))
    for holder in found:
        if (pod := pods.get(holder.pod or "")) is not None:
            holder.owner, holder.labels = pod.owner, pod.labels
    return found
