"""Agents and the tokens with which they enrol."""

from sqlalchemy import LargeBinary, Text, false
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Ref
from wallwatch_backend.kit.database import Base


class AgentRow(Base):
    __tablename__ = "agent"

    id: Mapped[Id]
    host: Mapped[str] = mapped_column(unique=True)
    secret_hash: Mapped[bytes | None] = mapped_column(LargeBinary)  # null: it has a certificate
    instance_uid: Mapped[str]
    version: Mapped[str | None]
    enrolled_at: Mapped[Created]
    connection_id: Mapped[Ref | None]  # set while connected; tells a newer connection from an older one that ends late
    healthy: Mapped[bool | None]
    health_error: Mapped[str | None]
    last_seen_at: Mapped[At | None]
    takes_policies: Mapped[bool] = mapped_column(default=False, server_default=false())
    policies_hash: Mapped[str | None]  # of the compiled policies that it runs
    policies_at: Mapped[At | None]
    policies_refused_hash: Mapped[str | None]  # of those that it would not take, until it takes others
    policies_refused_at: Mapped[At | None]
    policies_error: Mapped[str | None]
    command_kids: Mapped[list[str] | None] = mapped_column(ARRAY(Text))  # keys that it trusts; null: it has not said

    @property
    def connected(self) -> bool:
        return self.connection_id is not None


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
