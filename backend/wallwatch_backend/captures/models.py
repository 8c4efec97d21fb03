"""Captures: what was uploaded, how far its analysis is, and what it found. The packets themselves are not kept."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, deferred, mapped_column

from wallwatch_backend.captures.states import OPEN
from wallwatch_backend.kit.columns import At, Id, Json, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.kit.states import sql_list


class CaptureRow(Base):
    """One uploaded file. `heartbeat_at`: the replica that holds the file is alive."""

    __tablename__ = "capture"
    __table_args__ = (
        Index("capture_created", "created_at", "id"),
        Index("capture_open", "heartbeat_at", postgresql_where=text(f"state IN ({sql_list(OPEN)})")),
    )

    id: Mapped[Id]
    name: Mapped[str]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    options: Mapped[Json]
    state: Mapped[str]
    progress: Mapped[float]
    problem: Mapped[str | None]
    uploaded_by: Mapped[str]
    created_at: Mapped[At]
    ended_at: Mapped[At | None]
    heartbeat_at: Mapped[At]
    summary: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    result: Mapped[Json | None] = deferred(mapped_column(JSONB(none_as_null=True)))


class SeriesRow(Base):
    """PSNs over time of one direction of data."""

    __tablename__ = "capture_series"

    capture_id: Mapped[Ref] = mapped_column(ForeignKey("capture.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    label: Mapped[Json]
    body: Mapped[dict[str, Any]] = deferred(mapped_column(JSONB, nullable=False))
