"""Webhooks, the outbox of their deliveries, and each attempt."""

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Ref
from wallwatch_backend.kit.database import Base


class WebhookRow(Base):
    __tablename__ = "webhook"

    id: Mapped[Id]
    name: Mapped[str]
    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    secret: Mapped[bytes] = mapped_column(LargeBinary)  # encrypted; see cipher.py
    enabled: Mapped[bool] = mapped_column(default=True)
    disabled_reason: Mapped[str | None]
    failing_since: Mapped[At | None]
    last_delivery_at: Mapped[At | None]
    created_by: Mapped[str]
    created_at: Mapped[Created]


class DeliveryRow(Base):
    """An event for one receiver, written in the transaction that changed the incident."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        Index("webhook_delivery_due", "next_attempt_at", postgresql_where=text("state = 'pending'")),
        Index("webhook_delivery_log", "webhook_id", "created_at", "id"),
    )

    id: Mapped[Id]
    webhook_id: Mapped[Ref] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"))
    event: Mapped[str]
    body: Mapped[str] = mapped_column(Text)
    state: Mapped[str]
    attempt_count: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[Created]
    next_attempt_at: Mapped[At | None]
    delivered_at: Mapped[At | None]


class AttemptRow(Base):
    __tablename__ = "webhook_attempt"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    delivery_id: Mapped[Ref] = mapped_column(ForeignKey("webhook_delivery.id", ondelete="CASCADE"), index=True)
    at: Mapped[At]
    status: Mapped[int | None]
    duration_ms: Mapped[int]
    error: Mapped[str | None]
