"""The native body of webhook events of the lab (docs/webhook-native.schema.json)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from wallwatch_backend.lab.schemas import CampaignEventData


class LabEvent(BaseModel):
    """A campaign of the lab ended in the state that the event is named after."""

    type: Literal["lab.finished", "lab.stopped", "lab.failed"]
    timestamp: datetime
    data: CampaignEventData
