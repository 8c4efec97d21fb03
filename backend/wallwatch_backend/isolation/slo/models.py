"""SLO classes and rules; the job `isolation` reads them."""

from sqlalchemy import CheckConstraint, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, JsonList
from wallwatch_backend.kit.database import Base


class SloClassRow(Base):
    __tablename__ = "slo_class"
    __table_args__ = (CheckConstraint("min_mbps >= 0 AND max_mbps > 0 AND min_mbps <= max_mbps", name="slo_class_envelope_check"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    min_mbps: Mapped[float]
    max_mbps: Mapped[float]
    p50_us: Mapped[float | None]
    p99_us: Mapped[float | None]
    loss: Mapped[float | None]
    description: Mapped[str]
    version: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[At]
    updated_by: Mapped[str]


class SloRuleRow(Base):
    """One rule; the whole list is replaced at once."""

    __tablename__ = "slo_rule"

    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    matchers: Mapped[JsonList]
    slo_class: Mapped[str] = mapped_column(ForeignKey("slo_class.name"))


class SloRuleVersionRow(Base):
    """The version of the list: one row, absent until the list is changed for the first time."""

    __tablename__ = "slo_rule_version"
    __table_args__ = (CheckConstraint("id = 1", name="slo_rule_version_id_check"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    version: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[At]
    updated_by: Mapped[str]
