"""Takes events of remedies and rollouts and writes their deliveries at once, in the transaction of the change.

Unlike incidents, orders have no silences, groups or repetitions: a receiver gets each event once.
"""

from collections.abc import Awaitable, Callable, Sequence

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, Matcher, matches
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.bodies import order_event_body
from wallwatch_backend.notify.models import DeliveryRow, WebhookRow
from wallwatch_backend.notify.schemas import EventType, Format
from wallwatch_backend.notify.states import DeliveryState
from wallwatch_backend.notify.webhooks import repository

_SUBSCRIBED = "webhooks.subscribed_to"


async def _subscribed(session: WriteSession, event: EventType) -> Sequence[WebhookRow]:
    """Webhooks that subscribe to an event; one query per transaction and event type."""
    by_event: dict[str, Sequence[WebhookRow]] = session.info.setdefault(_SUBSCRIBED, {})
    if event not in by_event:
        by_event[event] = await repository.subscribed_to(session, event)
    return by_event[event]


async def publish(
    session: WriteSession, event: EventType, labels: Callable[[], Awaitable[Labels]], build: Callable[[], Awaitable[OrderEvent]]
) -> int:
    """Write a delivery for each webhook that subscribes to the event and whose matchers match; return how many.

    `labels` and `build` may query: they are only called if a webhook subscribes, and if one matches.
    """
    subscribed = await _subscribed(session, event)
    if not subscribed:
        return 0
    values = await labels()
    receivers = [webhook for webhook in subscribed if matches([Matcher.model_validate(m) for m in webhook.matchers], values)]
    if not receivers:
        return 0
    built = await build()
    session.add_all(
        DeliveryRow(
            webhook_id=webhook.id,
            event=str(event),
            body=order_event_body(Format(webhook.format), built, webhook.name, webhook.id, webhook.repeat_interval_s),
            state=DeliveryState.pending,
            next_attempt_at=built.at,
            subject=built.subject,
            about=built.about,
        )
        for webhook in receivers
    )
    await session.flush()
    await changes.wake_deliveries(session)
    return len(receivers)
