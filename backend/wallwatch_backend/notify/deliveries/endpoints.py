"""`/webhooks/...`: test event, delivery log, retry and replay, dead letters."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import StringConstraints

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import StorableText
from wallwatch_backend.notify.deliveries import errors, service
from wallwatch_backend.notify.schemas import DeadLetter, Delivery, DeliveryDetail, ReplayAll, Replayed
from wallwatch_backend.notify.states import DeliveryState

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[UUID, Path()]
DeliveryId = Annotated[UUID, Path()]
SearchText = Annotated[str, StringConstraints(max_length=200), StorableText]


@router.get("/dead-letters", operation_id="listDeadLetters", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_dead_letters(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[DeadLetter]:
    """List the failed deliveries of all webhooks, newest first. They are kept for 30 days."""
    return await service.list_dead_letters(session, limit, cursor)


@router.post(
    "/dead-letters/replay",
    operation_id="replayDeadLetters",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def replay_dead_letters(caller: AsOperator, body: ReplayAll, session: Writing) -> Replayed:
    """Send all failed deliveries again, with the same bodies and ids, oldest first per subject."""
    return Replayed(replayed=await service.replay_dead_letters(session, caller, body.webhook_id))


@router.post(
    "/{webhook_id}/test", operation_id="testWebhook", status_code=202, responses=problems.responses(*WRITE_ERRORS, problems.NotFound)
)
async def test_webhook(caller: AsOperator, webhook_id: WebhookId, session: Writing, settings: TheSettings) -> Delivery:
    """Send a test event in the webhook's format, even if it is disabled. The delivery log shows the result."""
    return await service.send_test(session, settings, caller, webhook_id)


@router.get(
    "/{webhook_id}/deliveries",
    operation_id="listDeliveries",
    responses=problems.responses(*READ_ERRORS, problems.NotFound, BadCursor),
)
async def list_deliveries(
    caller: AsViewer,
    webhook_id: WebhookId,
    session: Reading,
    state: Annotated[DeliveryState | None, Query()] = None,
    event: Annotated[SearchText | None, Query(description="Event type")] = None,
    q: Annotated[SearchText | None, Query(description="Part of its description: a host, a symptom, a rack")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Delivery]:
    """List deliveries, newest first."""
    return await service.list_deliveries(session, webhook_id, state=state, event=event, text=q, limit=limit, cursor=cursor)


@router.get(
    "/{webhook_id}/deliveries/{delivery_id}",
    operation_id="getDelivery",
    responses=problems.responses(*READ_ERRORS, problems.NotFound),
)
async def get_delivery(caller: AsViewer, webhook_id: WebhookId, delivery_id: DeliveryId, session: Reading) -> DeliveryDetail:
    """Return one delivery with its body."""
    return await service.get_delivery(session, webhook_id, delivery_id)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/retry",
    operation_id="retryDelivery",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.AlreadyDelivered),
)
async def retry_delivery(caller: AsOperator, webhook_id: WebhookId, delivery_id: DeliveryId, session: Writing) -> Delivery:
    """Retry an undelivered delivery now."""
    return await service.retry(session, caller, webhook_id, delivery_id)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/replay",
    operation_id="replayDelivery",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.StillPending),
)
async def replay_delivery(caller: AsOperator, webhook_id: WebhookId, delivery_id: DeliveryId, session: Writing) -> Delivery:
    """Send a finished delivery again, even one that was delivered: same body, same `webhook-id`."""
    return await service.replay(session, caller, webhook_id, delivery_id)
