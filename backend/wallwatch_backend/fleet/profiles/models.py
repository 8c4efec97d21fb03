"""Versions of profiles. The built-in profile has no row: it applies where no version is active."""

from typing import Any

from sqlalchemy import Index, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class ProfileVersionRow(Base):
    """The result of a calibration. Only `state`, the promotion and the note change afterwards."""

    __tablename__ = "rnic_profile_version"
    __table_args__ = (
        Index("rnic_profile_version_number", "model", "number", unique=True),
        Index("rnic_profile_version_active", "model", "driver", "fw_ver", unique=True, postgresql_where=text("state = 'active'")),
    )

    id: Mapped[Id]
    model: Mapped[str]
    number: Mapped[int] = mapped_column(Integer)  # counts from 1 for each model
    driver: Mapped[str] = mapped_column(server_default="")  # empty: all drivers
    fw_ver: Mapped[str] = mapped_column(server_default="")  # empty: all firmwares
    state: Mapped[str]  # candidate, refused, active, retired
    source: Mapped[str]  # perftest, fleet, lab
    performance: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    limits: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    calibration: Mapped[dict[str, Any]] = mapped_column(JSONB)
    note: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    promoted_by: Mapped[str | None]
    promoted_at: Mapped[At | None]
    retired_at: Mapped[At | None]
