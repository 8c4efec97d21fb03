"""Answers of the audit log."""

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
    target: str = Field(description="The object of the action")
    outcome: Outcome
    address: str | None
    detail: dict[str, Any]


class AuditHead(BaseModel):
    """The end of the chain of hashes over the log. Kept elsewhere, it shows later that nothing before it was changed or cut off."""

    seq: int = Field(description="How many links the chain has; 0 for an empty log")
    hash: str = Field(description="SHA-256 of the last link, in hex")
