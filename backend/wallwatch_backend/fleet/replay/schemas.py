"""The fleet of a minute, in the columns of `/fleet` that change."""

from datetime import datetime

from pydantic import BaseModel, Field


class FleetThen(BaseModel):
    """Columns of equal length; entry `i` of each belongs to the same RNIC. Null: nothing was measured in that minute."""

    minute: datetime = Field(description="Begin of the minute")
    host: list[str]
    pci: list[str]
    headroom: list[float | None] = Field(description="At the minute's largest values, against today's limits")
    nearest_wall: list[str | None]
    wall_headroom: list[float | None] = Field(description="The same to the requested wall; null without one")
    symptoms: list[list[str]] = Field(description="Active at the minute's end")
    tx_gbps: list[float | None] = Field(description="Mean of the minute")
    rx_gbps: list[float | None] = Field(description="Mean of the minute")
