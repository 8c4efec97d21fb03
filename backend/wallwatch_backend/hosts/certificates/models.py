"""Authorities that sign certificates of agents, and the certificates that they signed (docs/decisions/0010)."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At
from wallwatch_backend.kit.database import Base


class AuthorityRow(Base):
    __tablename__ = "agent_authority"

    fingerprint: Mapped[str] = mapped_column(primary_key=True)  # SHA-256 of the DER, in hex
    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), unique=True)
    certificate: Mapped[str]  # PEM
    private_key: Mapped[bytes | None] = mapped_column(LargeBinary)  # PEM, encrypted; null once retired
    created_at: Mapped[At]
    created_by: Mapped[str]
    not_after: Mapped[At | None]  # end of its overlap; null while it is the newest


class CertificateRow(Base):
    __tablename__ = "agent_certificate"

    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    serial: Mapped[str]
    agent_id: Mapped[UUID] = mapped_column(ForeignKey("agent.id", ondelete="CASCADE"), index=True)
    authority: Mapped[str]  # fingerprint of the authority that signed it
    issued_at: Mapped[At]
    not_after: Mapped[At]
    used_at: Mapped[At | None]  # time of the first connection with it, which revokes older ones
    revoked_at: Mapped[At | None]
