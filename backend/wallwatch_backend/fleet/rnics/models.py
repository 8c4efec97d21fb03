"""The cordon of an RNIC: what its host's agent reported last."""

from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At
from wallwatch_backend.kit.database import Base


class CordonRow(Base):
    """One row per RNIC that was ever cordoned; it stays, with `cordoned` false, once the cordon is undone."""

    __tablename__ = "rnic_cordon"

    host: Mapped[str] = mapped_column(primary_key=True)
    pci: Mapped[str] = mapped_column(primary_key=True)
    cordoned: Mapped[bool]
    changed_at: Mapped[At]  # when the agent set or removed the cordon
