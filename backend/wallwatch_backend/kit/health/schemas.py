"""Health: what a supervisor or load balancer reads."""

from typing import Literal

from pydantic import BaseModel


class Alive(BaseModel):
    status: Literal["ok"] = "ok"


class Check(BaseModel):
    ok: bool
    detail: str


class Readiness(BaseModel):
    status: Literal["ready", "not_ready"]
    checks: dict[str, Check]
