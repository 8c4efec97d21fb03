"""Notifies webhooks of the states and waves of rollouts."""

from collections.abc import Mapping

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, labels_of
from wallwatch_backend.kit.states import Outcome
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.routing import order_events
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.remedies.rollouts import present, repository
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.states import ROLLOUT, RolloutState

_WAVE_SENTENCES: Mapping[EventType, str] = {
    EventType.rollout_wave_started: "started a wave",
    EventType.rollout_wave_confirmed: "has a wave confirmed by telemetry",
}


async def notify(session: WriteSession, row: RolloutRow) -> None:
    """Notify webhooks of the state that a rollout has just entered, in the transaction of the change."""
    state = ROLLOUT[row.state]
    if state.event is not None:
        await _send(session, row, EventType(state.event), state.sentence, state.outcome, _reason(row), over=state.over)


async def notify_of_wave(session: WriteSession, row: RolloutRow, event: EventType) -> None:
    """Notify webhooks that the present wave has started, or was confirmed."""
    await _send(session, row, event, _WAVE_SENTENCES[event], "waiting", None, over=False)


async def _send(
    session: WriteSession, row: RolloutRow, event: EventType, sentence: str, outcome: Outcome, reason: str | None, *, over: bool
) -> None:
    hosts = sorted({target["host"] for wave in row.waves for target in wave})

    async def labels() -> Labels:
        places = await repository.rnics_of(session, hosts)
        return labels_of(
            {
                "host": hosts,
                "pci": sorted({target["pci"] for wave in row.waves for target in wave if target["pci"]}),
                "rack": [place.rack for place in places],
                "model": [place.model for place in places],
                "fw_ver": [place.fw_ver for place in places],
            }
        )

    async def build() -> OrderEvent:
        public_url = session.info.get("public_url")
        position = f"wave {row.wave + 1} of {len(row.waves)}"
        return OrderEvent(
            event=event,
            outcome=outcome,
            over=over,
            at=clock.now(),
            began_at=row.created_at,
            kind="rollout",
            id=row.id,
            action=row.action,
            place=hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts",
            text=f"The rollout of {row.action} {sentence} ({position}){f': {reason}' if reason else ''}",
            data=(await present.rollout_event(session, row)).model_dump(mode="json"),
            labels={},
            url=f"{public_url}/rollouts/{row.id}" if public_url else "",
        )

    await order_events.publish(session, event, labels, build)


def _reason(row: RolloutRow) -> str | None:
    """What a person or the worker gave as the reason for the present state."""
    if row.state == RolloutState.running:
        return row.decision_comment if row.decided_at == row.updated_at else None
    if row.undo is not None and row.state in (RolloutState.undoing, RolloutState.undo_paused, RolloutState.undone):
        return str(row.undo["message"] or row.undo["reason"])
    return row.message
