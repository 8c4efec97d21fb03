"""States of a campaign. The backend enters those up to `queued`, the runner all others; their names are those of `wallwatch.store.lab`."""

from wallwatch.store.lab import CampaignState as CampaignState
from wallwatch_backend.kit.states import State, StateTable

_S = CampaignState

CAMPAIGN = StateTable(
    CampaignState,
    State(name=_S.pending, label="Waiting for approval", sentence="waits for a second person's approval", outcome="waiting", over=False),
    State(name=_S.rejected, label="Rejected", sentence="was rejected", outcome="neutral", over=True),
    State(name=_S.expired, label="Expired", sentence="expired because nobody approved it in time", outcome="neutral", over=True),
    State(name=_S.queued, label="Queued", sentence="waits for a runner", outcome="waiting", over=False),
    State(name=_S.running, label="Running", sentence="is testing the device", outcome="waiting", over=False),
    State(name=_S.finished, label="Finished", sentence="is finished", outcome="good", over=True, event="lab.finished"),
    State(name=_S.stopped, label="Stopped", sentence="was stopped", outcome="neutral", over=True, event="lab.stopped"),
    State(name=_S.failed, label="Failed", sentence="failed", outcome="bad", over=True, event="lab.failed"),
)

OPEN = CAMPAIGN.where(lambda state: not state.over)
OVER = CAMPAIGN.where(lambda state: state.over)
