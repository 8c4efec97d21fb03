"""The native bodies of webhook events of incidents (docs/webhook-native.schema.json); `notify.formats.native` builds them."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from wallwatch_backend.incidents.schemas import Incident


class IncidentEvent(BaseModel):
    """One incident opened, changed or was resolved, or is repeated because it is unresolved."""

    type: Literal["incident.opened", "incident.updated", "incident.resolved", "incident.repeated"]
    timestamp: datetime = Field(description="When it happened (of a repetition: when it was due)")
    data: Incident


class IncidentGroup(BaseModel):
    """Incidents that a webhook with `group_by` gets together."""

    group_key: str = Field(description="The same in each notification of the group")
    group_labels: dict[str, str]
    status: Literal["firing", "resolved"] = Field(description="firing: at least one is unresolved")
    reason: Literal["changed", "repeated"]
    incidents: list[Incident] = Field(description="The unresolved ones, and those resolved since the last notification")
    truncated: int = Field(description="How many more incidents the group has")


class GroupEvent(BaseModel):
    """A group changed, or is repeated."""

    type: Literal["incident.group"]
    timestamp: datetime
    data: IncidentGroup
