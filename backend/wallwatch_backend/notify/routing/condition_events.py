"""Deliveries about conditions. The newest one of a subject in the log says whether a webhook knows of its condition."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.notify.events import ConditionKind, OrderEvent, subject_of
from wallwatch_backend.notify.formats.bodies import order_event_body
from wallwatch_backend.notify.models import DeliveryRow, WebhookRow
from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType, Format
from wallwatch_backend.notify.states import DeliveryState
from wallwatch_backend.notify.webhooks import repository


async def subscribed(session: ReadSession, begin: EventType) -> Sequence[WebhookRow]:
    """Enabled webhooks that hear of a kind of condition."""
    return await repository.subscribed_to(session, begin)


async def known(session: ReadSession, webhooks: Collection[UUID], kind: ConditionKind, begin: EventType) -> dict[UUID, set[str]]:
    """Webhook -> ids of the subjects whose condition it was notified of, and whose end it was not."""
    row = DeliveryRow
    newest = (
        select(row.webhook_id, row.subject, row.event)
        .ext(distinct_on(row.webhook_id, row.subject))
        .where(row.webhook_id.in_(webhooks), row.event.in_([str(begin), CONDITION_ENDS[begin]]))
        .order_by(row.webhook_id, row.subject, row.seq.desc())
    )
    prefix = subject_of(kind, "")
    found: dict[UUID, set[str]] = {}
    for webhook_id, subject, event in await session.execute(newest):
        if event == begin:
            found.setdefault(webhook_id, set()).add(subject.removeprefix(prefix))
    return found


def add(session: WriteSession, webhook: WebhookRow, event: OrderEvent) -> None:
    """Write the delivery of an event to one webhook."""
    session.add(
        DeliveryRow(
            webhook_id=webhook.id,
            event=str(event.event),
            body=order_event_body(Format(webhook.format), event, webhook.name, webhook.id),
            state=DeliveryState.pending,
            next_attempt_at=event.at,
            subject=event.subject,
            about=event.about,
        )
    )


async def wake(session: WriteSession) -> None:
    """Let the new deliveries be sent."""
    await session.flush()
    await changes.wake_deliveries(session)
