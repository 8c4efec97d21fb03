"""The audit log: rows are added, never changed (triggers see to it, migration 0003), and each is a link of a chain of hashes."""

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, LargeBinary
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


class AuditLinkRow(Base):
    """Created by the database when a row's transaction commits; nothing else writes here."""

    __tablename__ = "audit_link"

    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    event_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("audit_event.id"), unique=True)
    previous: Mapped[bytes] = mapped_column(LargeBinary)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
