"""The delivery log: list, test event, manual retry."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from wallwatch_backend.audit import service as audit
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.webhooks import outbox, repository
from wallwatch_backend.webhooks.errors import AlreadyDelivered
from wallwatch_backend.webhooks.models import AttemptRow, DeliveryRow
from wallwatch_backend.webhooks.schemas import TEST_EVENT, Attempt, Delivery, DeliveryState


async def _shown(session: ReadSession, rows: Sequence[DeliveryRow]) -> list[Delivery]:
    by_delivery: dict[UUID, list[AttemptRow]] = defaultdict(list)
    for attempt in await repository.attempts(session, [row.id for row in rows]):
        by_delivery[attempt.delivery_id].append(attempt)
    return [
        Delivery(
            id=row.id,
            event=row.event,
            state=DeliveryState(row.state),
            attempts=[Attempt.model_validate(attempt, from_attributes=True) for attempt in by_delivery[row.id]],
            created_at=row.created_at,
            delivered_at=row.delivered_at,
            next_attempt_at=row.next_attempt_at if row.state == "pending" else None,
        )
        for row in rows
    ]


async def list_deliveries(
    session: ReadSession, webhook_id: UUID, state: DeliveryState | None, limit: int, cursor: str | None
) -> Page[Delivery]:
    if await repository.one(session, webhook_id) is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    rows = await repository.delivery_page(session, webhook_id, state and str(state), time_and_id(cursor), limit + 1)
    items = await _shown(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def send_test(session: WriteSession, caller: Caller, webhook_id: UUID) -> Delivery:
    webhook = await repository.one(session, webhook_id)
    if webhook is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    at = clock.now()
    body = outbox.body_of(
        TEST_EVENT, {"webhook_id": str(webhook_id), "text": f"A test of {webhook.name}, asked for by {caller.actor}."}, at
    )
    row = DeliveryRow(webhook_id=webhook_id, event=TEST_EVENT, body=body, state="pending", next_attempt_at=at)
    await repository.add(session, row)
    await changes.wake_deliveries(session)
    audit.record(session, caller.actor, "webhook.test", webhook.name, address=caller.address, webhook_id=str(webhook_id))
    return (await _shown(session, [row]))[0]


async def retry(session: WriteSession, caller: Caller, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    row = await repository.delivery_locked(session, webhook_id, delivery_id)
    if row is None:
        raise NotFound(f"Webhook {webhook_id} has no delivery {delivery_id}.")
    if row.state == "delivered":
        raise AlreadyDelivered("It need not be sent again.")
    # The count begins again, so that a delivery that was given up gets its full number of attempts.
    row.state, row.next_attempt_at, row.attempt_count = "pending", clock.now(), 0
    await changes.wake_deliveries(session)
    audit.record(session, caller.actor, "webhook.retry", str(delivery_id), address=caller.address, webhook_id=str(webhook_id))
    await session.flush()
    return (await _shown(session, [row]))[0]
