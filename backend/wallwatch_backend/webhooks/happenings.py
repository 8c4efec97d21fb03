"""Tells webhooks what happens to remedies and rollouts: each event by itself and at once, in the transaction that made it.

Other than an incident, an order has no silence, no group and no repetition: whoever follows it wants each of its states, once.
"""

from collections.abc import Awaitable, Callable, Sequence

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, Matcher, matches
from wallwatch_backend.webhooks import repository
from wallwatch_backend.webhooks.formats.bodies import happening_body_of
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.models import DeliveryRow, WebhookRow
from wallwatch_backend.webhooks.schemas import EventType, Format

_LISTEN = "webhooks.listen_to"


async def _listening(session: WriteSession, event: EventType) -> Sequence[WebhookRow]:
    """Webhooks that want an event; the database is asked once a transaction."""
    known: dict[str, Sequence[WebhookRow]] = session.info.setdefault(_LISTEN, {})
    if event not in known:
        known[event] = await repository.listening_to(session, event)
    return known[event]


async def tell(
    session: WriteSession, event: EventType, labels: Callable[[], Awaitable[Labels]], happening: Callable[[], Awaitable[Happening]]
) -> int:
    """Write a delivery for each webhook that wants the event and whose matchers hold; return how many.

    What it takes to know the labels, and to show what happened, is only done where somebody listens.
    """
    listening = await _listening(session, event)
    if not listening:
        return 0
    known = await labels()
    receivers = [webhook for webhook in listening if matches([Matcher.model_validate(one) for one in webhook.matchers], known)]
    if not receivers:
        return 0
    told = await happening()
    session.add_all(
        DeliveryRow(
            webhook_id=webhook.id,
            event=str(event),
            body=happening_body_of(Format(webhook.format), told, webhook.name, webhook.id),
            state="pending",
            next_attempt_at=told.at,
            subject=told.subject,
            about=told.about,
        )
        for webhook in receivers
    )
    await session.flush()
    await changes.wake_deliveries(session)
    return len(receivers)
