"""Versions of models, and what each function is promised; the job `contention` reads both."""

from typing import Any

from sqlalchemy import CheckConstraint, Index, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Json
from wallwatch_backend.kit.database import Base


class NfModelVersionRow(Base):
    """The result of a training. Only `state` and the promotion change afterwards."""

    __tablename__ = "nf_model_version"
    __table_args__ = (
        CheckConstraint("state IN ('candidate', 'refused', 'active', 'retired')", name="nf_model_version_state_check"),
        Index("nf_model_version_number", "function", "nic_model", "firmware", "number", unique=True),
        Index("nf_model_version_active", "function", "nic_model", "firmware", unique=True, postgresql_where=text("state = 'active'")),
    )

    id: Mapped[Id]
    function: Mapped[str]
    nic_model: Mapped[str]
    firmware: Mapped[str] = mapped_column(server_default="")  # empty: all firmwares
    number: Mapped[int] = mapped_column(Integer)  # counts from 1 for each function, card model and firmware
    state: Mapped[str]
    model: Mapped[str]  # JSON as text: jsonb would change the numbers' notation, and with it the hash
    card: Mapped[Json]
    own_load: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB(none_as_null=True))
    note: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    promoted_by: Mapped[str | None]
    promoted_at: Mapped[At | None]
    retired_at: Mapped[At | None]


class NetworkFunctionRow(Base):
    """What a function needs and is promised, whichever card it runs on."""

    __tablename__ = "network_function"
    __table_args__ = (
        CheckConstraint("cores >= 1", name="network_function_cores_check"),
        CheckConstraint("sla_drop > 0 AND sla_drop < 1", name="network_function_sla_check"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    cores: Mapped[int] = mapped_column(Integer)
    sla_drop: Mapped[float | None]
    version: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[At]
    updated_by: Mapped[str]
