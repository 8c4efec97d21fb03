"""Violations that hosts and the job `validate` reported, each with its path through the automaton."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlalchemy import Row

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.replay import path
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.policies.formulas.analysis import monitor_of, verdict
from wallwatch_backend.policies.formulas.words import text_of
from wallwatch_backend.policies.registry import repository
from wallwatch_backend.policies.registry.present import subjects_of
from wallwatch_backend.policies.registry.stored import by_revision
from wallwatch_backend.policies.reports import inhibited
from wallwatch_backend.policies.reports import repository as telemetry_repository
from wallwatch_backend.policies.reports.schemas import PolicyViolation, TraceStep

Known = Mapping[str, tuple[int, Policy]]


class _Step(BaseModel):
    """A step as in docs/contracts.md."""

    at: datetime
    kinds: list[str] = []
    propositions: list[str] = []
    host: str | None = None


_STEPS = TypeAdapter(list[_Step])


async def _known(session: ReadSession, policy_id: str) -> Known:
    versions = await repository.versions(session, policy_id)
    if not versions and policy_id not in catalogue():
        raise NotFound(f"There is no policy {policy_id}.")
    return by_revision(policy_id, versions)


async def _subject(session: ReadSession, policy_id: str) -> str:
    return (await subjects_of(session)).get(policy_id, "")


async def list_violations(
    session: ReadSession,
    policy_id: str,
    *,
    since: datetime | None,
    until: datetime | None,
    host: str | None,
    pci: str | None,
    limit: int,
    cursor: str | None,
) -> Page[PolicyViolation]:
    known = await _known(session, policy_id)
    rows = await telemetry_repository.violations(
        session, policy_id, since=since, until=until, of_host=host, pci=pci, after=_place(cursor), limit=limit + 1
    )
    remedies = await inhibited.remedies_of(session, await _subject(session, policy_id), rows[:limit])
    items = [_presented(policy_id, row, known, remedy_id) for row, remedy_id in zip(rows[:limit], remedies, strict=True)]
    return Page(items=items, next_cursor=items[-1].id if len(rows) > limit else None)


def _place(cursor: str | None) -> tuple[datetime, int, str] | None:
    if cursor is None:
        return None
    at, host_id, pci = decode_cursor(cursor, datetime, int, str)
    assert isinstance(at, datetime)  # noqa: S101 - decode_cursor has checked all three
    assert isinstance(host_id, int)  # noqa: S101
    return at, host_id, str(pci)


async def get_violation(session: ReadSession, policy_id: str, violation_id: str) -> PolicyViolation:
    known = await _known(session, policy_id)
    place = _place(violation_id)
    row = await telemetry_repository.violation(session, policy_id, *place) if place is not None else None
    if row is None:
        raise NotFound("There is no such violation; events are stored for a limited time.")
    remedies = await inhibited.remedies_of(session, await _subject(session, policy_id), [row])
    return _presented(policy_id, row, known, remedies[0])


def _presented(policy_id: str, row: Row[Any], known: Known, remedy_id: UUID | None) -> PolicyViolation:
    other = row.other or {}
    revision = str(other.get("revision", ""))
    version, policy = known.get(revision, (None, None))
    cut, left_out = bool(other.get("cut")), other.get("left_out")
    start, trace = _trace(policy, _steps(other.get("steps")), cut)
    return PolicyViolation(
        id=encode_cursor(row.time, row.host_id, row.pci),
        policy=policy_id,
        at=row.time,
        host=row.host,
        pci=row.pci,
        subject=str(other.get("subject", "")),
        severity="critical" if other.get("severity") == "critical" else "warning",
        text=row.detail or "",
        inhibited_by=remedy_id,
        revision=revision,
        version=version,
        left_out=left_out if isinstance(left_out, int) else 0,
        cut=cut,
        start=start,
        trace=trace,
    )


def _steps(raw: object) -> list[_Step]:
    """Return the steps that a host reported; unreadable ones are left out, and the violation has none."""
    try:
        return _STEPS.validate_python(orjson.loads(raw)) if isinstance(raw, str) else []
    except (ValidationError, orjson.JSONDecodeError):
        return []


def _trace(policy: Policy | None, steps: list[_Step], cut: bool) -> tuple[int | None, list[TraceStep]]:
    start: int | None = None
    states: list[int | None] = [None] * len(steps)
    if policy is not None and steps:
        start, states = path(monitor_of(policy.formula), [step.propositions for step in steps], cut)
    return start, [
        TraceStep(
            at=step.at if step.at.tzinfo else step.at.replace(tzinfo=UTC),
            host=step.host,
            kinds=step.kinds,
            propositions=step.propositions,
            text=text_of(policy, step.propositions, step.kinds),
            state=state,
            verdict=None if state is None or policy is None else verdict(monitor_of(policy.formula), state),
        )
        for step, state in zip(steps, states, strict=True)
    ]
