"""Notifies of campaigns that ended (webhooks, incident, audit log), and expires those that nobody approved.

The runner, a separate process, writes the end; here it becomes known, in one transaction per batch. One replica does it.
"""

from datetime import timedelta

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import service as incidents
from wallwatch_backend.incidents.events import SYSTEM
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.background_tasks import work_through
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.matchers import Labels, labels_of
from wallwatch_backend.lab import approval, present, repository
from wallwatch_backend.lab.models import CampaignRow, DeviceRow
from wallwatch_backend.lab.results import finding_text
from wallwatch_backend.lab.states import CAMPAIGN
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.routing import order_events
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.settings import Settings

PERIOD_S = 1.0
_BATCH = 20


class CampaignNotices:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._pending_for = timedelta(seconds=settings.remedy_proposal_ttl_s)

    async def run(self) -> None:
        """Notify and expire until cancelled."""
        await work_through(self.process_batch, _BATCH, PERIOD_S)

    async def process_batch(self) -> int:
        """Expire some campaigns that wait for approval and notify of some that ended; return the larger of both numbers."""
        async with self._database.write() as session:
            expired = await approval.expire(session, self._pending_for, _BATCH)
            rows = await repository.unannounced(session, _BATCH)
            for row in rows:
                await _announce(session, row, await repository.device(session, row.device))
        return max(expired, len(rows))


async def _announce(session: WriteSession, row: CampaignRow, device: DeviceRow | None) -> None:
    row.announced_at = clock.now()
    state = CAMPAIGN[row.state]
    report, _ = present.report_of(row, device)
    audit.record(
        session, SYSTEM, f"lab.{row.state}", row.device, outcome="failed" if state.outcome == "bad" else "ok",
        campaign_id=str(row.id), message=row.message,
    )  # fmt: skip
    sentence = f"The lab campaign on {row.device} {state.sentence}{f': {row.message}' if row.message else '.'}"
    text = finding_text(row.device, report, report.causes) if report is not None and state.outcome == "good" else sentence
    await incidents.note(session, row.incident_id, "lab", SYSTEM, text, campaign_id=str(row.id))
    if state.event is not None:
        await _send(session, row, device, EventType(state.event), text)


async def _send(session: WriteSession, row: CampaignRow, device: DeviceRow | None, event: EventType, text: str) -> None:
    state = CAMPAIGN[row.state]
    places = {"host": device.host, "pci": device.pci, "model": device.model} if device is not None else {}

    async def labels() -> Labels:
        return labels_of(places)

    async def build() -> OrderEvent:
        public_url = session.info.get("public_url")
        return OrderEvent(
            event=event,
            outcome=state.outcome,
            over=True,
            at=row.ended_at or clock.now(),
            began_at=row.created_at,
            kind="campaign",
            id=row.id,
            action="lab campaign",
            place=row.device,
            text=text,
            data=present.event_data(row, device).model_dump(mode="json"),
            labels={name: value for name, value in places.items() if value},
            url=f"{public_url}/lab/{row.id}" if public_url else "",
        )

    await order_events.publish(session, event, labels, build)
