"""The incidents that a finding may belong to, as input of the pure decision (`rules.decide`)."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import and_, or_, select

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents.grouping.rules import Candidate, Member
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession

_MAX_OTHER_HOSTS = 500
"""Findings of other hosts, the newest first: a decision needs a few hosts, a fleet in trouble has thousands."""


def member_of(row: Any) -> Member:
    """The part of a finding's row that grouping uses; a cause that is not likely enough groups nothing."""
    likely = row.cause is not None and (row.posterior or 0.0) >= grouping().min_posterior
    return Member(
        host=row.host,
        pci=row.pci,
        rack=row.rack,
        symptom=row.symptom,
        cause=row.cause if likely else None,
        fw_ver=row.fw_ver,
        started_at=row.started_at,
        ended_at=row.cleared_at,
    )


async def candidates(session: ReadSession, finding: Member, reopen_within: timedelta) -> list[Candidate]:
    """Incidents of the finding's host, and those of the same symptom and cause in its rack or with its firmware."""
    columns = (
        I.id,
        I.opened_at,
        I.resolved_at,
        I.state,
        I.scope,
        I.apart,
        F.host,
        F.pci,
        F.rack,
        F.symptom,
        F.cause,
        F.posterior,
        F.fw_ver,
        F.started_at,
        F.cleared_at,
    )
    query = select(*columns).join(F, F.incident_id == I.id).where(I.merged_into.is_(None))
    recent = I.resolved_at >= finding.started_at - reopen_within
    of_host = query.where(F.host == finding.host, or_(I.state != IncidentState.resolved, recent))
    rows: list[Any] = list((await session.execute(of_host)).all())
    rules = grouping()
    if finding.cause is not None or finding.symptom in rules.without_cause:
        shared = []
        if finding.rack:
            shared.append(and_(F.rack == finding.rack, F.started_at.between(*_around(finding.started_at, rules.rack.window_s))))
        if finding.fw_ver and finding.cause in rules.upgradable:
            shared.append(and_(F.fw_ver == finding.fw_ver, F.started_at.between(*_around(finding.started_at, rules.fleet.window_s))))
        if shared:
            same = and_(F.symptom == finding.symptom, F.cause.is_not_distinct_from(finding.cause), F.host != finding.host)
            # Side effects of a remedy say nothing about the rack or the firmware.
            counts = or_(F.inhibited_by.is_(None), F.inhibited.is_(False))
            spread = (
                query.where(same, counts, or_(*shared), I.state != IncidentState.resolved)
                .order_by(F.started_at.desc(), F.finding_id)
                .limit(_MAX_OTHER_HOSTS)
            )
            rows += (await session.execute(spread)).all()
    return _grouped(rows)


def _around(at: datetime, window_s: int) -> tuple[datetime, datetime]:
    return at - timedelta(seconds=window_s), at + timedelta(seconds=window_s)


def _grouped(rows: list[Any]) -> list[Candidate]:
    by_id: dict[UUID, list[Any]] = {}
    for row in rows:
        by_id.setdefault(row.id, []).append(row)
    return [_candidate(findings) for findings in by_id.values()]


def _candidate(findings: list[Any]) -> Candidate:
    incident = findings[0]  # each row has the columns of its incident
    return Candidate(
        id=incident.id,
        opened_at=incident.opened_at,
        members=tuple(member_of(row) for row in findings),
        resolved_at=(incident.resolved_at or incident.opened_at) if incident.state == IncidentState.resolved else None,
        wide=incident.scope in ("rack", "fleet"),
        apart=incident.apart,
    )
