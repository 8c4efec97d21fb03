"""The wall: the whole fleet in columns, one entry an RNIC in each."""

from datetime import datetime

from pydantic import BaseModel, Field


class WallColumns(BaseModel):
    """Columns of equal length; entry `i` of each belongs to the same RNIC. Null: not known."""

    host: list[str]
    rack: list[str | None]
    pci: list[str]
    model: list[str | None]
    headroom: list[float | None] = Field(description="1 - value/limit of the nearest wall; below 0 past it")
    nearest_wall: list[str | None]
    symptoms: list[list[str]] = Field(description="Symptoms that are active now")
    recent: list[list[str]] = Field(description="Symptoms that ended in the last 30 minutes")
    seen_at_ms: list[int | None] = Field(description="Last sample, milliseconds since 1970 UTC")
    cordoned: list[bool]
    tx_gbps: list[float | None]
    rx_gbps: list[float | None]


class Wall(BaseModel):
    as_of: datetime
    seq: int = Field(description="Open the stream with `after` set to this, and no change is missed")
    columns: WallColumns
