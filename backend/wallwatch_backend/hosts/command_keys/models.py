"""Keys that sign commands. The first one is a file of the server; it gets a row when it is first rotated."""

from sqlalchemy import BigInteger, Identity, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At
from wallwatch_backend.kit.database import Base


class CommandKeyRow(Base):
    __tablename__ = "command_key"

    kid: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), unique=True)
    public_key: Mapped[str]
    private_key: Mapped[bytes | None] = mapped_column(LargeBinary)  # encrypted; null: a file of the server, or retired
    introduction: Mapped[str | None]  # the message to agents, signed by the previous key; null for the first
    created_at: Mapped[At]
    created_by: Mapped[str]
    not_after: Mapped[At | None]  # end of its overlap; null while it is the newest
