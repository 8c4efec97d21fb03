"""The tokens with which agents enrol."""

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class EnrolmentTokenRow(Base):
    __tablename__ = "enrolment_token"

    id: Mapped[Id]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    host: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    expires_at: Mapped[At]
    used_at: Mapped[At | None]
    used_by: Mapped[str | None]
    csr_hash: Mapped[bytes | None] = mapped_column(LargeBinary)  # of the request that used it; null where an agent got a secret
    certificate: Mapped[str | None]  # PEM: the answer to it, given again should it have been lost
    repeats: Mapped[int] = mapped_column(default=0, server_default="0")  # how often it was given again
