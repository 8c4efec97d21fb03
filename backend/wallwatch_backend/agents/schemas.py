"""Agents: enrolment and state."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import HostName, SafeText


class AgentCertificate(BaseModel):
    expires_at: datetime
    renews_at: datetime = Field(description="From when on a connected agent is given a new one: half of its life")
    late_at: datetime = Field(description="From when on something has kept it from being renewed: three quarters of its life")


class Agent(BaseModel):
    id: UUID
    host: str
    version: str | None
    connected: bool
    healthy: bool | None = Field(description="What the agent last said of itself; null before it said anything")
    health_error: str | None
    enrolled_at: datetime
    last_seen_at: datetime | None
    certificate: AgentCertificate | None = Field(description="The newest that it has; null for an agent that shows a secret")


class NewEnrolmentToken(BaseModel):
    host: HostName | None = Field(default=None, description="The token works for this host only; null: for any host without an agent")
    ttl_s: int = Field(default=3600, ge=60, le=30 * 86400, description="Seconds until it expires")


class EnrolmentToken(BaseModel):
    token: str = Field(description="Works once; shown only now")
    server_url: str = Field(description="Where the agent enrols: `wallwatch-agent enrol --url`")
    host: str | None
    expires_at: datetime


class Enrolment(BaseModel):
    """What an agent says to enrol."""

    token: SafeText = Field(min_length=1, max_length=200)
    host: HostName
    version: SafeText = Field(min_length=1, max_length=100)
    instance_uid: UUID
    csr: SafeText | None = Field(default=None, max_length=8000, description="PKCS #10 in PEM for a key that the agent made, on P-256")


class CommandKey(BaseModel):
    kid: str
    alg: str = "EdDSA"
    public_key: str = Field(description="Ed25519, base64url, 32 bytes")
    not_after: str | None = Field(default=None, description="RFC 3339; when the agent stops to accept it")


class EnrolledAgent(BaseModel):
    agent_id: UUID
    secret: str | None = Field(description="Null where the agent got a certificate")
    opamp_url: str
    command_keys: list[CommandKey]
    certificate: str | None = Field(description="PEM; null where this server's agents show secrets")
    authorities: list[str] = Field(description="PEM: what the server's certificate may come from, oldest first")
