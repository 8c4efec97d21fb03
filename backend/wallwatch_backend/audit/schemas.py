"""The audit log: what comes out."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field


class Outcome(StrEnum):
    ok = "ok"
    refused = "refused"
    failed = "failed"


class AuditEvent(BaseModel):
    id: int
    at: datetime
    actor: str = Field(description="User name, `token:` and its name, `agent:` and its host, `cli` or `system`")
    action: str = Field(description="Such as `session.sign_in`, `remedy.apply`, `token.create`")
    target: str = Field(description="What it was done to")
    outcome: Outcome
    address: str | None
    detail: dict[str, Any]
