"""Deliveries about conditions. The newest one of a subject in the log says whether a webhook knows of its condition."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.notify.events import ConditionKind, OrderEvent, subject_of
from wallwatch_backend.notify.formats.bodies import order_event_body
from wallwatch_backend.notify.models import AttemptRow, DeliveryRow, WebhookRow
from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType, Format
from wallwatch_backend.notify.states import DeliveryState
from wallwatch_backend.notify.webhooks import repository


async def subscribed(session: ReadSession, begin: EventType) -> Sequence[WebhookRow]:
    """Enabled webhooks that hear of a kind of condition."""
    return await repository.subscribed_to(session, begin)


async def known(session: ReadSession, webhooks: Collection[UUID], kind: ConditionKind, begin: EventType) -> dict[UUID, dict[str, UUID]]:
    """Webhook -> ids of the subjects whose condition it was notified of, and whose end it was not -> the delivery that did."""
    row = DeliveryRow
    newest = (
        select(row.webhook_id, row.subject, row.event, row.id)
        .ext(distinct_on(row.webhook_id, row.subject))
        .where(row.webhook_id.in_(webhooks), row.event.in_([str(begin), CONDITION_ENDS[begin]]))
        .order_by(row.webhook_id, row.subject, row.seq.desc())
    )
    prefix = subject_of(kind, "")
    found: dict[UUID, dict[str, UUID]] = {}
    for webhook_id, subject, event, delivery_id in await session.execute(newest):
        if event == begin:
            found.setdefault(webhook_id, {})[subject.removeprefix(prefix)] = delivery_id
    return found


def add(session: WriteSession, webhook: WebhookRow, event: OrderEvent) -> None:
    """Write the delivery of an event to one webhook."""
    session.add(
        DeliveryRow(
            webhook_id=webhook.id,
            event=str(event.event),
            body=_body(webhook, event),
            state=DeliveryState.pending,
            next_attempt_at=event.at,
            subject=event.subject,
            about=event.about,
        )
    )


def _body(webhook: WebhookRow, event: OrderEvent) -> str:
    return order_event_body(Format(webhook.format), event, webhook.name, webhook.id, webhook.repeat_interval_s)


async def due_again(
    session: WriteSession, webhook: WebhookRow, known: Mapping[str, UUID], at: datetime, most: int
) -> dict[str, DeliveryRow]:
    """Subject -> its delivery, of those whose last request was a repeat interval ago. Alertmanager forgets what is not repeated.

    The webhook is locked first, as everything does that locks its deliveries, too.
    """
    if webhook.format != Format.alertmanager_api or webhook.repeat_interval_s is None or not known:
        return {}
    if await repository.get_locked(session, webhook.id) is None:
        return {}
    row = DeliveryRow
    last_at = select(func.max(AttemptRow.at)).where(AttemptRow.delivery_id == row.id).scalar_subquery()
    before = at - timedelta(seconds=webhook.repeat_interval_s)
    due = (
        select(row)
        .where(row.id.in_(known.values()), row.state != DeliveryState.pending, func.coalesce(last_at, row.created_at) <= before)
        .order_by(row.id)
        .limit(most)
        .with_for_update()
    )
    subjects = {delivery_id: subject for subject, delivery_id in known.items()}
    return {subjects[delivery.id]: delivery for delivery in await session.scalars(due)}


async def repeat(session: WriteSession, webhook: WebhookRow, delivery: DeliveryRow, event: OrderEvent) -> None:
    """Send a delivery again as the condition is now. It stays one line of the log, with its newest attempts: others would be thousands."""
    await session.execute(delete(AttemptRow).where(AttemptRow.delivery_id == delivery.id))
    delivery.body, delivery.state, delivery.next_attempt_at = _body(webhook, event), DeliveryState.pending, event.at
    delivery.attempt_count, delivery.delivered_at = 0, None


async def wake(session: WriteSession) -> None:
    """Let the new deliveries be sent."""
    await session.flush()
    await changes.wake_deliveries(session)
