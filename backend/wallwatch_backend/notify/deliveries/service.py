"""The delivery log: list, one with its body, test event, retry and replay, dead letters."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.notify.deliveries import repository
from wallwatch_backend.notify.deliveries.errors import AlreadyDelivered, StillPending
from wallwatch_backend.notify.formats.bodies import test_event_body
from wallwatch_backend.notify.models import AttemptRow, DeliveryRow
from wallwatch_backend.notify.schemas import TEST_EVENT, Attempt, DeadLetter, Delivery, DeliveryDetail, Format
from wallwatch_backend.notify.states import DeliveryState
from wallwatch_backend.notify.webhooks import repository as webhooks
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.settings import Settings


async def _attempts(session: ReadSession, rows: Sequence[DeliveryRow]) -> dict[UUID, list[AttemptRow]]:
    by_delivery: dict[UUID, list[AttemptRow]] = defaultdict(list)
    for attempt in await repository.attempts(session, [row.id for row in rows]):
        by_delivery[attempt.delivery_id].append(attempt)
    return by_delivery


def _fields(row: DeliveryRow, attempts: Sequence[AttemptRow]) -> dict[str, Any]:
    return {
        "id": row.id,
        "event": row.event,
        "about": row.about,
        "state": row.state,
        "attempts": [Attempt.model_validate(attempt, from_attributes=True) for attempt in attempts],
        "created_at": row.created_at,
        "delivered_at": row.delivered_at,
        "next_attempt_at": row.next_attempt_at if row.state == DeliveryState.pending else None,
    }


async def _delivery(session: ReadSession, row: DeliveryRow) -> Delivery:
    return Delivery.model_validate(_fields(row, (await _attempts(session, [row]))[row.id]))


async def list_deliveries(
    session: ReadSession,
    webhook_id: UUID,
    *,
    state: DeliveryState | None,
    event: str | None,
    text: str | None,
    limit: int,
    cursor: str | None,
) -> Page[Delivery]:
    if await webhooks.get(session, webhook_id) is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    rows = await repository.page(
        session, webhook_id, state=state and str(state), event=event, text=text, before=time_and_id(cursor), limit=limit + 1
    )
    attempts = await _attempts(session, rows[:limit])
    items = [Delivery.model_validate(_fields(row, attempts[row.id])) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def get_delivery(session: ReadSession, webhook_id: UUID, delivery_id: UUID) -> DeliveryDetail:
    row = await repository.get(session, webhook_id, delivery_id)
    if row is None:
        raise NotFound(f"Webhook {webhook_id} has no delivery {delivery_id}.")
    return DeliveryDetail.model_validate({**_fields(row, (await _attempts(session, [row]))[row.id]), "body": row.body})


async def list_dead_letters(session: ReadSession, limit: int, cursor: str | None) -> Page[DeadLetter]:
    rows = await repository.dead_letter_page(session, time_and_id(cursor), limit + 1)
    attempts = await _attempts(session, [row for row, _ in rows[:limit]])
    items = [
        DeadLetter.model_validate({**_fields(row, attempts[row.id]), "webhook_id": row.webhook_id, "webhook_name": name})
        for row, name in rows[:limit]
    ]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def send_test(session: WriteSession, settings: Settings, caller: Caller, webhook_id: UUID) -> Delivery:
    webhook = await webhooks.get(session, webhook_id)
    if webhook is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    at, text = clock.now(), f"A test of {webhook.name}, requested by {caller.actor}."
    row = DeliveryRow(
        webhook_id=webhook_id,
        event=TEST_EVENT,
        body=test_event_body(Format(webhook.format), webhook_id, webhook.name, text, at, urls.public_address(settings)),
        state=DeliveryState.pending,
        next_attempt_at=at,
        subject=f"test={uuid4()}",
        about="a test",
    )
    await repository.add(session, row)
    await changes.wake_deliveries(session)
    audit.record(session, caller.actor, "webhook.test", webhook.name, address=caller.address, webhook_id=str(webhook_id))
    return await _delivery(session, row)


async def _send_again(session: WriteSession, caller: Caller, webhook_id: UUID, delivery_id: UUID, *, also_delivered: bool) -> Delivery:
    row = await repository.get_locked(session, webhook_id, delivery_id)
    if row is None:
        raise NotFound(f"Webhook {webhook_id} has no delivery {delivery_id}.")
    if row.state == DeliveryState.delivered and not also_delivered:
        raise AlreadyDelivered("Use replay to send it again.")
    if row.state == DeliveryState.pending and also_delivered:
        raise StillPending("It is retried automatically; replay it once it has finished.")
    # Reset the count, so that a failed delivery gets its full number of attempts.
    row.state, row.next_attempt_at, row.attempt_count = DeliveryState.pending, clock.now(), 0
    await changes.wake_deliveries(session)
    action = "webhook.replay" if also_delivered else "webhook.retry"
    audit.record(session, caller.actor, action, str(delivery_id), address=caller.address, webhook_id=str(webhook_id))
    await session.flush()
    return await _delivery(session, row)


async def retry(session: WriteSession, caller: Caller, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    return await _send_again(session, caller, webhook_id, delivery_id, also_delivered=False)


async def replay(session: WriteSession, caller: Caller, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    return await _send_again(session, caller, webhook_id, delivery_id, also_delivered=True)


async def replay_dead_letters(session: WriteSession, caller: Caller, webhook_id: UUID | None) -> int:
    if webhook_id is not None and await webhooks.get(session, webhook_id) is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    count = await repository.replay_failed(session, webhook_id, clock.now())
    if count:
        await changes.wake_deliveries(session)
    target = str(webhook_id) if webhook_id else "all webhooks"
    audit.record(session, caller.actor, "webhook.replay_dead_letters", target, address=caller.address, replayed=count)
    return count
