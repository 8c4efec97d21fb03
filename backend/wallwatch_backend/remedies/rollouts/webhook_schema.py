"""The native body of webhook events of rollouts (docs/webhook-native.schema.json)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from wallwatch_backend.remedies.rollouts.schemas import RolloutEventData


class RolloutEvent(BaseModel):
    """A rollout entered the state that the event is named after; or a wave of it started, or was confirmed."""

    type: Literal[
        "rollout.pending",
        "rollout.rejected",
        "rollout.running",
        "rollout.wave_started",
        "rollout.wave_confirmed",
        "rollout.paused",
        "rollout.stopped",
        "rollout.confirmed",
        "rollout.undoing",
        "rollout.undo_paused",
        "rollout.undone",
    ]
    timestamp: datetime
    data: RolloutEventData
