"""`/webhooks`: subscriptions, test event, delivery log, retry."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.webhooks import deliveries, errors, service
from wallwatch_backend.webhooks.dependencies import TheCipher
from wallwatch_backend.webhooks.schemas import CreatedWebhook, Delivery, DeliveryState, NewWebhook, Webhook, WebhookChange

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[UUID, Path()]


@router.get("", operation_id="listWebhooks", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_webhooks(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Webhook]:
    """List webhooks, oldest first."""
    return await service.list_webhooks(session, limit, cursor)


@router.post("", operation_id="createWebhook", status_code=201, responses=problems.responses(*WRITE_ERRORS, errors.BadUrl))
async def create_webhook(
    caller: AsOperator, body: NewWebhook, session: Writing, settings: TheSettings, cipher: TheCipher, response: Response
) -> CreatedWebhook:
    """Subscribe a receiver. The answer is the only place where its secret can be read."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create_webhook(session, settings, cipher, caller, body)


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
async def test_webhook(caller: AsOperator, webhook_id: WebhookId, session: Writing) -> Delivery:
    """Send a test event (`webhook.test`), also when the webhook is switched off."""
    return await deliveries.send_test(session, caller, webhook_id)


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
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Delivery]:
    """List deliveries, newest first."""
    return await deliveries.list_deliveries(session, webhook_id, state, limit, cursor)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/retry",
    operation_id="retryDelivery",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.AlreadyDelivered),
)
async def retry_delivery(caller: AsOperator, webhook_id: WebhookId, delivery_id: Annotated[UUID, Path()], session: Writing) -> Delivery:
    """Try a delivery again now."""
    return await deliveries.retry(session, caller, webhook_id, delivery_id)
