"""The audit log: rows are added, never changed."""

from sqlalchemy import BigInteger, Identity, Index
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import Created, Json
from wallwatch_backend.kit.database import Base


class AuditRow(Base):
    __tablename__ = "audit_event"
    __table_args__ = (Index("audit_event_action_at", "action", "at"), Index("audit_event_actor_at", "actor", "at"))

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    at: Mapped[Created]
    actor: Mapped[str]
    action: Mapped[str]
    target: Mapped[str]
    outcome: Mapped[str]
    address: Mapped[str | None]
    detail: Mapped[Json]
