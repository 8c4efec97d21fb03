"""Queries of candidate rules."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.lab.rules.models import RuleRow, RuleState

R = RuleRow


async def add(session: WriteSession, row: RuleRow) -> None:
    """Insert a rule; its number is known afterwards."""
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def all_rules(session: ReadSession, state: RuleState | None, campaign_id: UUID | None, limit: int) -> Sequence[RuleRow]:
    """Rules, newest first."""
    query = select(R).order_by(R.number.desc()).limit(limit)
    if state is not None:
        query = query.where(R.state == state)
    if campaign_id is not None:
        query = query.where(R.campaign_id == campaign_id)
    return (await session.scalars(query)).all()


async def one_locked(session: WriteSession, rule_id: UUID) -> RuleRow | None:
    return (await session.scalars(select(R).where(R.id == rule_id).with_for_update())).one_or_none()


async def of_cause(session: ReadSession, campaign_id: UUID, cause: int) -> RuleRow | None:
    return (await session.scalars(select(R).where(R.campaign_id == campaign_id, R.cause == cause))).one_or_none()
