"""Webhooks: who is told of incidents."""

import base64
import secrets
from uuid import UUID

from wallwatch_backend.audit import service as audit
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks import repository, urls
from wallwatch_backend.webhooks.cipher import SecretCipher
from wallwatch_backend.webhooks.models import WebhookRow
from wallwatch_backend.webhooks.schemas import CreatedWebhook, NewWebhook, Webhook, WebhookChange


def _shown(row: WebhookRow) -> Webhook:
    return Webhook.model_validate(row, from_attributes=True)


def new_signing_secret() -> str:
    """Return 24 random bytes in the form of Standard Webhooks."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


async def list_webhooks(session: ReadSession, limit: int, cursor: str | None) -> Page[Webhook]:
    rows = await repository.page(session, time_and_id(cursor), limit + 1)
    items = [_shown(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def create_webhook(
    session: WriteSession, settings: Settings, cipher: SecretCipher, caller: Caller, body: NewWebhook
) -> CreatedWebhook:
    await urls.check(body.url, settings.webhook_allow_private)
    secret = new_signing_secret()
    row = WebhookRow(
        name=body.name,
        url=body.url,
        events=[str(event) for event in dict.fromkeys(body.events)],
        secret=cipher.encrypt(secret),
        enabled=True,
        created_by=caller.actor,
    )
    await repository.add(session, row)
    audit.record(session, caller.actor, "webhook.create", body.name, address=caller.address, url=body.url, webhook_id=str(row.id))
    return CreatedWebhook(**_shown(row).model_dump(), secret=secret)


async def update_webhook(session: WriteSession, settings: Settings, caller: Caller, webhook_id: UUID, change: WebhookChange) -> Webhook:
    row = await repository.one_locked(session, webhook_id)
    if row is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    if change.url is not None:
        await urls.check(change.url, settings.webhook_allow_private)
        row.url = change.url
    if change.name is not None:
        row.name = change.name
    if change.events is not None:
        row.events = [str(event) for event in dict.fromkeys(change.events)]
    if change.enabled is not None:
        row.enabled = change.enabled
        if change.enabled:
            row.disabled_reason = row.failing_since = None
    changed = change.model_dump(mode="json", exclude_none=True)
    audit.record(session, caller.actor, "webhook.update", row.name, address=caller.address, webhook_id=str(row.id), changed=changed)
    await session.flush()
    return _shown(row)


async def delete_webhook(session: WriteSession, caller: Caller, webhook_id: UUID) -> None:
    name = await repository.delete_one(session, webhook_id)
    if name is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    audit.record(session, caller.actor, "webhook.delete", name, address=caller.address, webhook_id=str(webhook_id))
