"""Queries of what remedies run where, and of the findings that they inhibit."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.remedy_models import Disturbance
from wallwatch_backend.incidents.inhibition import CLOCKS_DIFFER, LONGEST, Run
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.rows import any_of_texts
from wallwatch_backend.remedies.models import CommandRow as C
from wallwatch_backend.remedies.models import RemedyRow as R


@cache
def disturbing() -> dict[str, Disturbance]:
    """Actions that bring something about by themselves."""
    return {action.id: action.disturbs for action in load.remedies().values() if action.disturbs is not None}


@cache
def _symptoms() -> frozenset[str]:
    return frozenset(symptom for disturbance in disturbing().values() for symptom in disturbance.symptoms)


async def runs(session: ReadSession, host: str, pci: str, symptom: str, since: datetime) -> list[Run]:
    """Runs of actions and undos that may bring a symptom about at a place and that had not settled at `since`; oldest first."""
    if symptom not in _symptoms():  # most findings, and the database need not be asked
        return []
    return [run for run in await runs_on(session, [host], since) if run.may_bring_about(host, pci, symptom)]


async def runs_on(session: ReadSession, hosts: Sequence[str] | None, since: datetime) -> list[Run]:
    """Runs that bring something about, on these hosts or on all, and that had not settled at `since`; oldest first."""
    # A command that was refused did nothing; one that never left neither.
    query = (
        select(C.remedy_id, R.action, R.host, R.pci, C.sent_at, C.finished_at)
        .join_from(R, C, C.remedy_id == R.id)
        .where(R.action.in_(disturbing()), C.operation != "dry_run", C.sent_at.is_not(None), C.state != "refused")
        .where(or_(C.finished_at.is_(None), C.finished_at > since - LONGEST - CLOCKS_DIFFER))
        .order_by(C.sent_at, C.id)
    )
    if hosts is not None:
        query = query.where(R.host == any_of_texts(hosts))
    return [_run(row) for row in await session.execute(query)]


def _run(row: Any) -> Run:
    disturbance = disturbing()[row.action]
    return Run(
        remedy_id=row.remedy_id,
        action=row.action,
        host=row.host,
        # An action of the host may be ordered from the page of one of its RNICs.
        pci=row.pci if load.remedies()[row.action].scope == "rnic" else None,
        symptoms=frozenset(disturbance.symptoms),
        settle=timedelta(seconds=disturbance.settle_s),
        began_at=row.sent_at,
        ended_at=row.finished_at,
    )


async def inhibited(session: ReadSession) -> Sequence[Any]:
    """Findings that last and are inhibited by a remedy, oldest first."""
    columns = (F.finding_id, F.host, F.pci, F.symptom, F.started_at, F.last_at, F.inhibited_by, F.inhibited_at)
    query = select(*columns).where(F.inhibited_by.is_not(None), F.inhibited, F.cleared_at.is_(None))
    return (await session.execute(query.order_by(F.started_at, F.finding_id))).all()


async def of_remedies(session: ReadSession, remedy_ids: Sequence[UUID]) -> Sequence[Any]:
    """Findings that began during these remedies, oldest first, whether they are inhibited still, have ended or were raised."""
    columns = (F.finding_id, F.incident_id, F.inhibited_by, F.inhibited, F.host, F.pci, F.symptom, F.title, F.started_at, F.cleared_at)
    return (await session.execute(select(*columns).where(F.inhibited_by.in_(remedy_ids)).order_by(F.started_at, F.finding_id))).all()
