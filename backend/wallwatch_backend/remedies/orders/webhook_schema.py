"""The native body of webhook events of remedies (docs/webhook-native.schema.json)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from wallwatch_backend.remedies.orders.schemas import Remedy


class RemedyEvent(BaseModel):
    """A remedy (no dry run) entered the state that the event is named after."""

    type: Literal[
        "remedy.pending",
        "remedy.rejected",
        "remedy.approved",
        "remedy.running",
        "remedy.verifying",
        "remedy.change_confirmed",
        "remedy.confirmed",
        "remedy.not_confirmed",
        "remedy.failed",
        "remedy.refused",
        "remedy.expired",
        "remedy.undone",
    ]
    timestamp: datetime
    data: Remedy
