"""`/webhooks`: subscriptions, test event, delivery log, retry and replay, dead letters, the native body's schema."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import StringConstraints

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import StorableText
from wallwatch_backend.webhooks import deliveries, errors, service
from wallwatch_backend.webhooks.dependencies import TheCipher
from wallwatch_backend.webhooks.formats import native
from wallwatch_backend.webhooks.schemas import (
    CreatedWebhook,
    DeadLetter,
    Delivery,
    DeliveryDetail,
    DeliveryState,
    NewWebhook,
    ReplayAll,
    Replayed,
    Webhook,
    WebhookChange,
)

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[UUID, Path()]
DeliveryId = Annotated[UUID, Path()]
Words = Annotated[str, StringConstraints(max_length=200), StorableText]


@router.get("", operation_id="listWebhooks", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_webhooks(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Webhook]:
    """List webhooks, oldest first."""
    return await service.list_webhooks(session, caller, limit, cursor)


@router.post("", operation_id="createWebhook", status_code=201, responses=problems.responses(*WRITE_ERRORS, errors.BadUrl))
async def create_webhook(
    caller: AsOperator, body: NewWebhook, session: Writing, settings: TheSettings, cipher: TheCipher, response: Response
) -> CreatedWebhook:
    """Subscribe a receiver. The answer is the only place where its secret can be read."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create_webhook(session, settings, cipher, caller, body)


@router.get("/schema", operation_id="getWebhookSchema", responses=problems.responses(*READ_ERRORS))
async def get_schema(caller: AsViewer) -> dict[str, Any]:
    """Return the JSON Schema of the bodies that webhooks of the native format send."""
    return native.schema()


@router.get("/dead-letters", operation_id="listDeadLetters", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_dead_letters(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[DeadLetter]:
    """List the deliveries of all webhooks that were given up, newest first. They are kept for 30 days."""
    return await deliveries.list_dead_letters(session, limit, cursor)


@router.post(
    "/dead-letters/replay",
    operation_id="replayDeadLetters",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def replay_dead_letters(caller: AsOperator, body: ReplayAll, session: Writing) -> Replayed:
    """Send everything again that was given up, with the same bodies and ids, oldest first for each subject."""
    return Replayed(replayed=await deliveries.replay_dead_letters(session, caller, body.webhook_id))


@router.patch("/{webhook_id}", operation_id="updateWebhook", responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.BadUrl))
async def update_webhook(
    caller: AsOperator, webhook_id: WebhookId, body: WebhookChange, session: Writing, settings: TheSettings
) -> Webhook:
    """Change a webhook."""
    return await service.update_webhook(session, settings, caller, webhook_id, body)


@router.delete(
    "/{webhook_id}", operation_id="deleteWebhook", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound)
)
async def delete_webhook(caller: AsOperator, webhook_id: WebhookId, session: Writing) -> None:
    """Remove a webhook and its delivery log."""
    await service.delete_webhook(session, caller, webhook_id)


@router.post(
    "/{webhook_id}/test", operation_id="testWebhook", status_code=202, responses=problems.responses(*WRITE_ERRORS, problems.NotFound)
)
async def test_webhook(caller: AsOperator, webhook_id: WebhookId, session: Writing, settings: TheSettings) -> Delivery:
    """Send a test in the webhook's format, also when it is switched off. What became of it is in the delivery log."""
    return await deliveries.send_test(session, settings, caller, webhook_id)


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
    event: Annotated[Words | None, Query(description="As in `event`")] = None,
    q: Annotated[Words | None, Query(description="Part of what it is about: a host, a symptom, a rack")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Delivery]:
    """List deliveries, newest first."""
    return await deliveries.list_deliveries(session, webhook_id, state=state, event=event, text=q, limit=limit, cursor=cursor)


@router.get(
    "/{webhook_id}/deliveries/{delivery_id}",
    operation_id="getDelivery",
    responses=problems.responses(*READ_ERRORS, problems.NotFound),
)
async def get_delivery(caller: AsViewer, webhook_id: WebhookId, delivery_id: DeliveryId, session: Reading) -> DeliveryDetail:
    """Return one delivery with the body that is sent."""
    return await deliveries.get_delivery(session, webhook_id, delivery_id)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/retry",
    operation_id="retryDelivery",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.AlreadyDelivered),
)
async def retry_delivery(caller: AsOperator, webhook_id: WebhookId, delivery_id: DeliveryId, session: Writing) -> Delivery:
    """Try a delivery again now that has not reached its receiver."""
    return await deliveries.retry(session, caller, webhook_id, delivery_id)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/replay",
    operation_id="replayDelivery",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.StillPending),
)
async def replay_delivery(caller: AsOperator, webhook_id: WebhookId, delivery_id: DeliveryId, session: Writing) -> Delivery:
    """Send a finished delivery once more, also one that arrived: the same body under the same `webhook-id`."""
    return await deliveries.replay(session, caller, webhook_id, delivery_id)
