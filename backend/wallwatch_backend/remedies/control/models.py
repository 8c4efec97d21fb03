"""What holds remedies back: emergency stops, and when a circuit breaker was reset."""

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class StopRow(Base):
    """An emergency stop, from when to when; at most one is active."""

    __tablename__ = "remedy_stop"
    __table_args__ = (Index("remedy_stop_one", text("(ended_at IS NULL)"), unique=True, postgresql_where=text("ended_at IS NULL")),)

    id: Mapped[Id]
    at: Mapped[Created]
    by: Mapped[str]
    reason: Mapped[str]
    ended_at: Mapped[At | None]
    ended_by: Mapped[str | None]


class BreakerResetRow(Base):
    """Failures of an action before this time no longer count."""

    __tablename__ = "remedy_breaker_reset"

    action: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[At]
    by: Mapped[str]
