"""Automation rules and their runs."""

from sqlalchemy import Boolean, ForeignKey, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Id, Json, JsonList, Ref
from wallwatch_backend.kit.database import Base


class RuleRow(Base):
    __tablename__ = "automation_rule"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    action: Mapped[str]
    params: Mapped[Json]
    trigger: Mapped[str]
    matchers: Mapped[JsonList]
    enabled: Mapped[bool] = mapped_column(Boolean)
    window_from: Mapped[str | None]  # HH:MM in UTC; null with window_to: at any time
    window_to: Mapped[str | None]
    cooldown_s: Mapped[int] = mapped_column(Integer)
    created_by: Mapped[str]
    created_at: Mapped[At]
    updated_at: Mapped[At]
    enabled_by: Mapped[str | None]
    enabled_at: Mapped[At | None]


class RunRow(Base):
    """One attempt of a rule at one place; at most one is open per place."""

    __tablename__ = "automation_run"
    __table_args__ = (
        Index("automation_run_log", "rule_id", "created_at", "id"),
        Index("automation_run_open", "rule_id", "host", "pci", unique=True, postgresql_where=text("ended_at IS NULL")),
    )

    id: Mapped[Id]
    rule_id: Mapped[Ref] = mapped_column(ForeignKey("automation_rule.id", ondelete="CASCADE"))
    finding_id: Mapped[Ref | None]
    incident_id: Mapped[Ref | None]
    host: Mapped[str]
    pci: Mapped[str]  # empty where a remedy is for the host and no RNIC was named
    state: Mapped[str]
    message: Mapped[str | None]
    plan_id: Mapped[Ref | None]
    dry_run_id: Mapped[Ref | None]
    remedy_id: Mapped[Ref | None]
    steps: Mapped[JsonList]
    created_at: Mapped[At]
    updated_at: Mapped[At]
    ended_at: Mapped[At | None]
