"""`/webhooks`: subscriptions, and the JSON Schema of the native body."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin, AsViewer
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.notify.schemas import CreatedWebhook, NewWebhook, Webhook, WebhookChange
from wallwatch_backend.notify.webhooks import service
from wallwatch_backend.notify.webhooks.errors import BadUrl, UnfitReceiver, UnfitRoute

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[UUID, Path()]


@router.get("", operation_id="listWebhooks", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_webhooks(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Webhook]:
    """List webhooks, oldest first."""
    return await service.list_webhooks(session, caller, limit, cursor)


@router.post(
    "", operation_id="createWebhook", status_code=201, responses=problems.responses(*WRITE_ERRORS, BadUrl, UnfitRoute, UnfitReceiver)
)
async def create_webhook(
    caller: AsAdmin, body: NewWebhook, session: Writing, settings: TheSettings, cipher: TheCipher, response: Response
) -> CreatedWebhook:
    """Subscribe a receiver. Only this answer contains its secret."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create_webhook(session, settings, cipher, caller, body)


@router.get("/schema", operation_id="getWebhookSchema", responses=problems.responses(*READ_ERRORS))
async def get_schema(caller: AsViewer, request: Request) -> dict[str, Any]:
    """Return the JSON Schema of the bodies that webhooks of the native format send."""
    schema: dict[str, Any] = request.app.state.webhook_schema  # composed at start-up from the contexts that send events
    return schema


@router.patch(
    "/{webhook_id}",
    operation_id="updateWebhook",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, BadUrl, UnfitRoute, UnfitReceiver),
)
async def update_webhook(
    caller: AsAdmin, webhook_id: WebhookId, body: WebhookChange, session: Writing, settings: TheSettings, cipher: TheCipher
) -> Webhook:
    """Change a webhook."""
    return await service.update_webhook(session, settings, cipher, caller, webhook_id, body)


@router.delete(
    "/{webhook_id}", operation_id="deleteWebhook", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound)
)
async def delete_webhook(caller: AsAdmin, webhook_id: WebhookId, session: Writing) -> None:
    """Delete a webhook and its delivery log."""
    await service.delete_webhook(session, caller, webhook_id)
