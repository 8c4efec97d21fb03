"""The whole fleet in columns, one entry per RNIC in each."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch.store.state import RECENT


class FleetColumns(BaseModel):
    """Columns of equal length; entry `i` of each belongs to the same RNIC. Null: unknown.

    Its fields are the one list of the fleet's columns: `repository` reads `rnic_state` by it, and the stream sends the same columns.
    """

    host: list[str]
    rack: list[str | None]
    pci: list[str]
    model: list[str | None]
    headroom: list[float | None] = Field(description="1 - value/limit of the nearest wall; negative above its limit")
    nearest_wall: list[str | None]
    symptoms: list[list[str]] = Field(description="Active symptoms")
    recent: list[list[str]] = Field(description=f"Symptoms that cleared in the last {RECENT}")
    seen_at_ms: list[int | None] = Field(description="Last sample, milliseconds since 1970 UTC")
    cordoned: list[bool]
    tx_gbps: list[float | None]
    rx_gbps: list[float | None]


class Fleet(BaseModel):
    as_of: datetime
    seq: int = Field(description="Open the stream with `after` set to this to miss no change")
    stale_after_s: float = Field(description="An RNIC whose last sample is older is stale: its host has missed three samples")
    columns: FleetColumns
