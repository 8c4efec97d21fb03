"""Candidate rules and the decision on each. The job `classify` reads the accepted ones when it starts."""

from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Json, Ref
from wallwatch_backend.kit.database import Base


class RuleState(StrEnum):
    proposed = "proposed"
    accepted = "accepted"
    rejected = "rejected"


class RuleRow(Base):
    """A rule in the catalogue's form (`body`), with the cause that it comes from."""

    __tablename__ = "lab_rule"
    __table_args__ = (UniqueConstraint("campaign_id", "cause", name="lab_rule_of_cause"),)

    id: Mapped[Id]
    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True), unique=True)
    state: Mapped[str]
    campaign_id: Mapped[Ref | None] = mapped_column(ForeignKey("lab_campaign.id", ondelete="SET NULL"))
    cause: Mapped[int]
    cause_text: Mapped[str]
    device: Mapped[str]
    body: Mapped[Json]
    not_checked: Mapped[list[str]] = mapped_column(JSONB)
    evidence: Mapped[dict[str, Any]] = mapped_column(JSONB)
    proposed_by: Mapped[str]
    proposed_at: Mapped[Created]
    decided_by: Mapped[str | None]
    decided_at: Mapped[At | None]
    comment: Mapped[str | None]
