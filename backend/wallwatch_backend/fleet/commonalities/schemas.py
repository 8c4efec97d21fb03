"""What sick hosts share, and what the fleet's columns leave out."""

from pydantic import BaseModel, Field

from wallwatch.domain.commonalities import Dimension


class Commonality(BaseModel):
    """A property that sick hosts have more often than chance explains."""

    dimension: Dimension
    value: str = Field(description="Of a change: the kind of event or the remedy, within the last hour")
    sick_with: int = Field(description="Sick hosts that have it")
    all_with: int = Field(description="Hosts of the fleet that have it")
    lift: float = Field(description="Its share of the sick hosts over its share of all hosts")
    chance: float = Field(description="Probability that chance alone shows as much in any of the tests; at most 0.05")


class Commonalities(BaseModel):
    hosts: int
    sick: int = Field(description="Hosts with an active symptom")
    tested: int = Field(description="Properties that were tested; the chance of each is corrected for this number")
    items: list[Commonality] = Field(description="Least probable first; empty when chance explains everything")


class FleetDetails(BaseModel):
    """Columns that `/fleet` leaves out, because few look at them; entry `i` of each belongs to the same RNIC."""

    host: list[str]
    pci: list[str]
    firmware: list[str | None]
    tenants: list[list[str]] = Field(description="Namespaces of the pods that hold its VFs; empty where none is known")
    headroom: list[float | None] = Field(description="1 - value/limit of the requested wall; null without one, or where it is unknown")
