"""What holds remedies back: emergency stop, limits, circuit breakers."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import Line


class Stop(BaseModel):
    at: datetime
    by: str
    reason: str


class NewStop(BaseModel):
    reason: Line = Field(description="Shown to everyone whose request is refused meanwhile")


class Busy(BaseModel):
    """Where remedies are under way: approved, running or being verified."""

    hosts: int
    racks: int
    fleet: int = Field(description="Hosts with an agent")
    most_hosts: int = Field(description="Limit of hosts with remedies under way at once; above it, requests are refused")
    most_racks: int


class Breaker(BaseModel):
    """The circuit breaker of one action."""

    action: str
    open: bool = Field(description="While true, the action is not applied")
    failed: int = Field(description="Failed on the host, or not confirmed by telemetry")
    finished: int = Field(description="Failed or confirmed in the window")
    window_s: int
    failures_that_open: int
    reset_at: datetime | None
    reset_by: str | None


class Control(BaseModel):
    stop: Stop | None
    busy: Busy
    breakers: list[Breaker]
    approval_above_hosts: int | None = Field(
        description="A rollout over more hosts needs a second person's approval; null: never because of its size"
    )
    awaiting_approval: int = Field(description="Remedies that wait for a second person's approval")
