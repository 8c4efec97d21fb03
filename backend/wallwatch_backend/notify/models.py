"""Webhooks, queued events, groups and their timers, deliveries and their attempts."""

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Json, JsonList, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.notify.states import DeliveryState


class WebhookRow(Base):
    __tablename__ = "webhook"

    id: Mapped[Id]
    name: Mapped[str]
    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    secret: Mapped[bytes] = mapped_column(LargeBinary)  # encrypted; see kit/cipher.py
    enabled: Mapped[bool] = mapped_column(default=True)
    disabled_reason: Mapped[str | None]
    failing_since: Mapped[At | None]
    last_delivery_at: Mapped[At | None]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    format: Mapped[str]
    matchers: Mapped[JsonList]
    group_by: Mapped[list[str]] = mapped_column(ARRAY(Text))
    group_wait_s: Mapped[int]
    group_interval_s: Mapped[int]
    repeat_interval_s: Mapped[int | None]
    credential: Mapped[bytes | None] = mapped_column(LargeBinary)  # the receiver's key, encrypted like the secret
    credential_fingerprint: Mapped[str | None]


class EventRow(Base):
    """An event of an incident that is not routed yet, written in the transaction of the change."""

    __tablename__ = "webhook_event"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    incident_id: Mapped[Ref]
    event: Mapped[str]
    data: Mapped[Json]
    at: Mapped[At]


class GroupRow(Base):
    """Incidents that one webhook gets together, and when it gets them next."""

    __tablename__ = "webhook_group"
    __table_args__ = (
        Index("webhook_group_key", "webhook_id", "key", unique=True),
        Index("webhook_group_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
        Index("webhook_group_repeat", "repeat_at", postgresql_where=text("repeat_at IS NOT NULL")),
    )

    id: Mapped[Id]
    webhook_id: Mapped[Ref] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"))
    key: Mapped[str]
    labels: Mapped[Json]
    due_at: Mapped[At | None]  # when changes are sent; null: there are none
    last_sent_at: Mapped[At | None]
    repeat_at: Mapped[At | None]


class MemberRow(Base):
    """What one webhook was sent of one incident."""

    __tablename__ = "webhook_member"

    webhook_id: Mapped[Ref] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"), primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(primary_key=True, index=True)
    group_id: Mapped[Ref] = mapped_column(ForeignKey("webhook_group.id", ondelete="CASCADE"), index=True)
    event: Mapped[str | None]  # waits to be sent; null: nothing
    state: Mapped[str]
    notified: Mapped[bool]
    data: Mapped[Json]
    changed_at: Mapped[At]


class DeliveryRow(Base):
    """A request to one receiver, written in the transaction that decided to send it."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        Index("webhook_delivery_due", "next_attempt_at", postgresql_where=text(f"state = '{DeliveryState.pending}'")),
        Index("webhook_delivery_log", "webhook_id", "created_at", "id"),
        Index("webhook_delivery_subject", "webhook_id", "subject", "seq", postgresql_where=text(f"state = '{DeliveryState.pending}'")),
        Index("webhook_delivery_failed", "created_at", "id", postgresql_where=text(f"state = '{DeliveryState.failed}'")),
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
    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    subject: Mapped[str]  # deliveries of one subject are sent one after another, by seq
    about: Mapped[str]  # description in the log


class AttemptRow(Base):
    __tablename__ = "webhook_attempt"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    delivery_id: Mapped[Ref] = mapped_column(ForeignKey("webhook_delivery.id", ondelete="CASCADE"), index=True)
    at: Mapped[At]
    status: Mapped[int | None]
    duration_ms: Mapped[int]
    error: Mapped[str | None]
