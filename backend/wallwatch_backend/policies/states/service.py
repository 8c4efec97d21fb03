"""States of policies over time: over the fleet, or on one RNIC and its host."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy
from wallwatch_backend.fleet.rnics import repository as rnics
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput, NotFound
from wallwatch_backend.policies.registry import repository
from wallwatch_backend.policies.registry.present import lifecycle_of
from wallwatch_backend.policies.registry.schemas import Lifecycle
from wallwatch_backend.policies.registry.stored import policy_of
from wallwatch_backend.policies.reports import repository as telemetry_repository
from wallwatch_backend.policies.states.schemas import PolicySeries, PolicyStrip, PolicyStrips, StateThen

_STEPS = 120
_LONGEST = timedelta(days=31)


def _span(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime, int]:
    end = until or clock.now()
    start = since or end - timedelta(hours=1)
    if not timedelta(0) < end - start <= _LONGEST:
        raise InvalidInput("`from` must be before `to`, by 31 days at most.")
    # Reports come at most once per minute.
    step_s = max(60, 60 * round((end - start).total_seconds() / _STEPS / 60))
    begin = int(start.timestamp()) // step_s * step_s
    return datetime.fromtimestamp(begin, tz=end.tzinfo), end, step_s


def _times(start: datetime, end: datetime, step_s: int) -> list[datetime]:
    times = [start]
    while times[-1] + timedelta(seconds=step_s) < end:
        times.append(times[-1] + timedelta(seconds=step_s))
    return times


def _standing(row: Row[Any]) -> StateThen:
    """Return the state between reports; a violation counts only at its own time."""
    if row.unknown:
        return "unknown"
    return "holding" if row.subjects else "idle"


def _spread(rows: Iterable[Row[Any]], times: list[datetime]) -> list[StateThen]:
    """Return the state in each step; a report is valid until the next one, up to a limit."""
    by_time = {row.bucket: row for row in rows}
    last = max((at for at in by_time if at < times[0]), default=None)
    found: list[StateThen] = []
    for at in times:
        if at in by_time:
            last = at
            found.append("violated" if by_time[at].violations else _standing(by_time[at]))
        elif last is not None and at - last <= telemetry_repository.VALID_FOR:
            found.append(_standing(by_time[last]))
        else:
            found.append("unheard")
    return found


async def series(session: ReadSession, policy_id: str, since: datetime | None, until: datetime | None) -> PolicySeries:
    if policy_id not in catalogue() and await repository.one(session, policy_id) is None:
        raise NotFound(f"There is no policy {policy_id}.")
    start, end, step_s = _span(since, until)
    times = _times(start, end, step_s)
    rows = await telemetry_repository.buckets(session, start, end, step_s, policy_id=policy_id)
    counts = {row.bucket: row.violations for row in rows}
    return PolicySeries(
        since=start, until=end, step_s=step_s, times=times, states=_spread(rows, times), violations=[counts.get(at, 0) for at in times]
    )


async def _policies(session: ReadSession) -> dict[str, tuple[Policy, Lifecycle]]:
    rows = {row.id: row for row in await repository.rows(session)}
    shown = await repository.shown_versions(session)
    policies = {policy.id: (policy, lifecycle_of(rows.get(policy.id))) for policy in catalogue().values()}
    return policies | {id: (policy_of(version.definition), lifecycle_of(rows[id])) for id, version in shown.items()}


async def strips(session: ReadSession, host: str, pci: str, since: datetime | None, until: datetime | None) -> PolicyStrips:
    if await rnics.identity(session, host, pci) is None:
        raise NotFound(f"There is no RNIC {pci} on {host}.")
    start, end, step_s = _span(since, until)
    times = _times(start, end, step_s)
    by_policy: dict[tuple[str, str], list[Row[Any]]] = {}
    for row in await telemetry_repository.buckets(session, start, end, step_s, of_host=host, pci=pci):
        by_policy.setdefault((row.policy, row.pci), []).append(row)
    items = []
    known = await _policies(session)
    for (policy_id, of), rows in sorted(by_policy.items()):
        policy, lifecycle = known.get(policy_id, (None, Lifecycle.disabled))
        states = _spread(rows, times)
        if policy is None or all(state == "unheard" for state in states):
            continue
        counts = {row.bucket: row.violations for row in rows}
        strip = PolicyStrip(
            policy=policy_id,
            title=policy.title,
            severity=policy.severity,
            subject=policy.subject,
            lifecycle=lifecycle,
            of_host=not of,
            states=states,
            violations=[counts.get(at, 0) for at in times],
        )
        items.append(strip)
    items.sort(key=lambda item: (-sum(item.violations), item.of_host, item.policy))
    return PolicyStrips(since=start, until=end, step_s=step_s, times=times, items=items)
