"""Policies as the API presents them: definition, lifecycle, state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy as CataloguePolicy
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.policies.formulas.schemas import Definition
from wallwatch_backend.policies.registry import repository
from wallwatch_backend.policies.registry.models import PolicyRow, PolicyVersionRow
from wallwatch_backend.policies.registry.schemas import Lifecycle, PolicyState, PolicySummary, PolicyVersion
from wallwatch_backend.policies.reports import inhibited
from wallwatch_backend.policies.reports import repository as telemetry_repository
from wallwatch_backend.policies.reports.standing import Standing, States

HOURS = 24


@dataclass(frozen=True)
class Reported:
    """What the fleet reported on policies: newest states, and violations of the last day."""

    at: datetime
    states: States
    recent: Mapping[str, Sequence[int]]
    last: Mapping[str, datetime]
    inhibited: Mapping[str, int]
    """Violations of the last day that remedies caused; they are not in `recent`."""


async def subjects_of(session: ReadSession) -> dict[str, str]:
    """Policy -> its subject, of the catalogue's and operators' own."""
    own = {id: version.definition["subject"] for id, version in (await repository.shown_versions(session)).items()}
    return {**{policy.id: policy.subject for policy in catalogue().values()}, **own}


async def reported_on(session: ReadSession, at: datetime, policy_id: str) -> Reported:
    """Return what was reported on one policy."""
    return await _reported(session, at, await telemetry_repository.states(session, at, policy_id), policy_id)


async def reported_on_all(session: ReadSession, at: datetime, standing: Standing) -> Reported:
    """Return what was reported on all policies."""
    return await _reported(session, at, await standing.states(session, at))


async def _reported(session: ReadSession, at: datetime, states: States, policy_id: str | None = None) -> Reported:
    since = at - timedelta(hours=HOURS)
    recent: dict[str, list[int]] = {}
    for row in await telemetry_repository.violations_by_hour(session, since, policy_id):
        hours = recent.setdefault(row.policy, [0] * HOURS)
        # A host's clock may be ahead of ours.
        hours[min(max(row.hour, 0), HOURS - 1)] += row.violations
    last = await telemetry_repository.last_violations(session, list(recent), since)
    excused: dict[str, int] = {}
    subjects = await subjects_of(session)
    concerned = {id: subject for id, subject in subjects.items() if policy_id in (None, id)}
    for row in await inhibited.by_hour(session, since, concerned):
        hours = recent.get(row.policy, [0] * HOURS)
        place = min(max(row.hour, 0), HOURS - 1)
        hours[place] = max(hours[place] - row.violations, 0)
        excused[row.policy] = excused.get(row.policy, 0) + row.violations
    return Reported(at, states, recent, last, excused)


def version_of(row: PolicyVersionRow, agents: int = 0) -> PolicyVersion:
    return PolicyVersion(
        number=row.number,
        definition=Definition.model_validate(row.definition),
        note=row.note,
        saved_by=row.saved_by,
        saved_at=row.saved_at,
        enabled_by=row.enabled_by,
        enabled_at=row.enabled_at,
        agents=agents,
    )


def lifecycle_of(row: PolicyRow | None) -> Lifecycle:
    if row is None or row.enabled:
        return Lifecycle.enabled
    return Lifecycle.draft if row.own and row.running is None else Lifecycle.disabled


def summary(policy: CataloguePolicy, row: PolicyRow | None, reported: Reported) -> PolicySummary:
    """Return a policy with its state; `row` is None for one of the catalogue that was never switched on or off."""
    own = row is not None and row.own
    lifecycle = lifecycle_of(row)
    state, recent = reported.states.get(policy.id), reported.recent.get(policy.id, [0] * HOURS)
    subjects, unknown = (state.subjects, state.unknown) if state is not None else (0, 0)
    return PolicySummary(
        id=policy.id,
        title=policy.title,
        own=own,
        lifecycle=lifecycle,
        has_draft=row is not None and row.own and row.newest > (row.running or 0),
        running=0 if row is None else row.running if row.own else 0,
        subject=policy.subject,
        where=policy.where,
        formula=policy.formula,
        severity=policy.severity,
        symptoms=list(policy.symptoms),
        causes=list(policy.causes),
        state=_state(lifecycle, state, recent[-1]),
        subjects=subjects,
        unknown=unknown,
        coverage=(subjects - unknown) / subjects if subjects else None,
        hosts=state.hosts if state is not None else 0,
        violations_1h=recent[-1],
        violations_24h=sum(recent),
        inhibited_24h=reported.inhibited.get(policy.id, 0),
        recent=list(recent),
        last_violation_at=reported.last.get(policy.id),
        heard_at=state.heard_at if state is not None else None,
    )


def _state(lifecycle: Lifecycle, state: Row[Any] | None, violations_1h: int) -> PolicyState:
    if lifecycle is not Lifecycle.enabled:
        return PolicyState.off
    if violations_1h:
        return PolicyState.violated
    if state is None or state.unknown:
        return PolicyState.unknown
    return PolicyState.holding if state.subjects else PolicyState.idle


async def agents_by_version(session: ReadSession, policy_id: str) -> dict[int, int]:
    """Version -> number of agents that run it; 0 is the catalogue's."""
    found: dict[int, int] = {}
    for row in await repository.agents_by_hash(session):
        number = (row.policies or {}).get(policy_id)
        if number is not None:
            found[number] = found.get(number, 0) + row.agents
    return found
