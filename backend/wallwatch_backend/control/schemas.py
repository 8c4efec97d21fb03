"""What holds remedies back: emergency stop, limits, circuit breakers."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import Line


class Stop(BaseModel):
    at: datetime
    by: str
    reason: str


class NewStop(BaseModel):
    reason: Line = Field(description="Shown to everyone whose order is refused meanwhile")


class Busy(BaseModel):
    """Where remedies are under way: applied and not yet judged, or on their way to the host."""

    hosts: int
    racks: int
    fleet: int = Field(description="Hosts with an agent")
    most_hosts: int = Field(description="Hosts on which remedies may be under way at once; beyond, orders are refused")
    most_racks: int


class Breaker(BaseModel):
    """Of one action: what failed lately."""

    action: str
    open: bool = Field(description="While true, the action is not applied")
    failed: int = Field(description="Failed on the host, or not shown by telemetry to have worked")
    finished: int = Field(description="All that were applied and judged in the window")
    window_s: int
    failures_that_open: int
    reset_at: datetime | None
    reset_by: str | None


class Control(BaseModel):
    stop: Stop | None
    busy: Busy
    breakers: list[Breaker]
    approval_above_hosts: int | None = Field(
        description="A rollout over more hosts waits for a second person; null: none does for its size"
    )
    awaiting_approval: int = Field(description="Proposed remedies that wait for a second person")
