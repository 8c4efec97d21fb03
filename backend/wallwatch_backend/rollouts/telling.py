"""Tells webhooks how a rollout goes."""

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, labels_of
from wallwatch_backend.rollouts import present, repository
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.webhooks import happenings
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.schemas import EventType

_WORDS = {
    EventType.rollout_proposed: "is proposed and waits for a second person",
    EventType.rollout_rejected: "was rejected",
    EventType.rollout_started: "may begin",
    EventType.rollout_wave_started: "began a wave",
    EventType.rollout_wave_done: "has a wave verified",
    EventType.rollout_paused: "is paused",
    EventType.rollout_resumed: "goes on",
    EventType.rollout_stopped: "was stopped",
    EventType.rollout_done: "is done: telemetry has verified every target",
    EventType.rollout_undo_started: "is being taken back, its last wave first",
    EventType.rollout_undone: "was taken back on every target",
}


async def tell(session: WriteSession, event: EventType, row: RolloutRow) -> None:
    """Tell of an event of a rollout, in the transaction that made it."""
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

    async def happening() -> Happening:
        why = f": {said}" if (said := _why(event, row)) else ""
        public_url = session.info.get("public_url")
        return Happening(
            event=event,
            at=clock.now(),
            began_at=row.created_at,
            kind="rollout",
            id=row.id,
            action=row.action,
            place=hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts",
            text=f"The rollout of {row.action} {_WORDS[event]} (wave {row.wave + 1} of {len(row.waves)}){why}",
            data=(await present.news(session, row)).model_dump(mode="json"),
            labels={},
            url=f"{public_url}/rollouts/{row.id}" if public_url else "",
        )

    await happenings.tell(session, event, labels, happening)


def _why(event: EventType, row: RolloutRow) -> str | None:
    """What moved whoever caused the event, or held the rollout up."""
    if event == EventType.rollout_started:
        return row.decision_comment
    if row.undo is not None and event not in (EventType.rollout_stopped, EventType.rollout_done):
        return str(row.undo["message"] or row.undo["reason"])
    return row.message
