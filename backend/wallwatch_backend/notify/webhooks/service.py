"""Webhooks: subscriptions of receivers."""

import base64
import secrets
from typing import Any
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.notify.models import WebhookRow
from wallwatch_backend.notify.schemas import (
    ALERTMANAGER_REPEAT_S,
    GROUP_INTERVAL_S,
    GROUP_WAIT_S,
    KEYED_FORMATS,
    CreatedWebhook,
    Format,
    NewWebhook,
    Webhook,
    WebhookChange,
)
from wallwatch_backend.notify.webhooks import receivers, repository, urls
from wallwatch_backend.notify.webhooks.errors import UnfitRoute
from wallwatch_backend.settings import Settings


def _webhook(row: WebhookRow, dead_letters: int = 0) -> Webhook:
    return Webhook.model_validate(row, from_attributes=True).model_copy(update={"dead_letters": dead_letters})


def new_signing_secret() -> str:
    """Return 24 random bytes in the format of Standard Webhooks."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


async def list_webhooks(session: ReadSession, caller: Caller, limit: int, cursor: str | None) -> Page[Webhook]:
    rows = await repository.page(session, time_and_id(cursor), limit + 1)
    dead = await repository.dead_letter_counts(session, [row.id for row in rows[:limit]])
    items = [_webhook(row, dead.get(row.id, 0)) for row in rows[:limit]]
    if not caller.role.covers(Role.admin):  # anyone who knows a chat's address can post to it
        items = [item.model_copy(update={"url": urls.without_secret(item.url)}) for item in items]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def create_webhook(
    session: WriteSession, settings: Settings, cipher: SecretCipher, caller: Caller, body: NewWebhook
) -> CreatedWebhook:
    secret = new_signing_secret()
    row = WebhookRow(secret=cipher.encrypt(secret), enabled=True, created_by=caller.actor, **_columns(body))
    row.group_wait_s = _or_default(body.group_wait_s, GROUP_WAIT_S if body.group_by else 0)
    row.group_interval_s = _or_default(body.group_interval_s, GROUP_INTERVAL_S if body.group_by else 0)
    row.repeat_interval_s = body.repeat_interval_s
    if body.format is Format.alertmanager_api:
        row.repeat_interval_s = _or_default(body.repeat_interval_s, ALERTMANAGER_REPEAT_S)
    _keep_credential(row, cipher, body.credential)
    _check_route(row)
    await receivers.check(row, settings)
    await repository.add(session, row)
    url = urls.without_secret(body.url)
    audit.record(session, caller.actor, "webhook.create", body.name, address=caller.address, url=url, webhook_id=str(row.id))
    return CreatedWebhook(**_webhook(row).model_dump(), secret=secret)


def _or_default(given: int | None, default: int) -> int:
    return default if given is None else given


def _check_route(row: WebhookRow) -> None:
    """Refuse what Alertmanager's API would misunderstand: it groups by itself, and ends alerts that are not sent again.

    Raises
    ------
    UnfitRoute
        For a webhook of this format that groups or does not repeat.
    """
    if row.format != Format.alertmanager_api:
        return
    if row.group_by:
        raise UnfitRoute("Alertmanager groups alerts itself: leave group_by empty, and set group_by in Alertmanager's routes.")
    if row.repeat_interval_s is None:
        raise UnfitRoute("Alertmanager ends alerts that are not sent again: give repeat_interval_s, for example 600.")


def _keep_credential(row: WebhookRow, cipher: SecretCipher, credential: str | None) -> None:
    """Store a new key encrypted, and forget the one of a format that needs none."""
    if Format(row.format) not in KEYED_FORMATS:
        row.credential = row.credential_fingerprint = None
    elif credential is not None:
        row.credential, row.credential_fingerprint = cipher.encrypt(credential), receivers.fingerprint(credential)


def _columns(body: NewWebhook | WebhookChange) -> dict[str, Any]:
    """Columns of the given fields, as they are stored; the credential is not among them."""
    given = body.model_dump(mode="json", exclude_none=True, exclude={"credential"})
    if "events" in given:
        given["events"] = list(dict.fromkeys(given["events"]))
    return given


async def update_webhook(
    session: WriteSession, settings: Settings, cipher: SecretCipher, caller: Caller, webhook_id: UUID, change: WebhookChange
) -> Webhook:
    row = await repository.get_locked(session, webhook_id)
    if row is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    changed = _columns(change)
    if "repeat_interval_s" in change.model_fields_set:
        changed["repeat_interval_s"] = change.repeat_interval_s
        await repository.reschedule_repeats(session, webhook_id, change.repeat_interval_s)
    for name, value in changed.items():
        setattr(row, name, value)
    _keep_credential(row, cipher, change.credential)
    _check_route(row)
    if {"url", "format", "credential"} & change.model_fields_set:
        await receivers.check(row, settings)
    if change.enabled:
        row.disabled_reason = row.failing_since = None
    audited = changed | ({"url": urls.without_secret(change.url)} if change.url is not None else {})
    if change.credential is not None:
        audited["credential_fingerprint"] = row.credential_fingerprint
    audit.record(session, caller.actor, "webhook.update", row.name, address=caller.address, webhook_id=str(row.id), changed=audited)
    await session.flush()
    dead = await repository.dead_letter_counts(session, [row.id])
    return _webhook(row, dead.get(row.id, 0))


async def delete_webhook(session: WriteSession, caller: Caller, webhook_id: UUID) -> None:
    name = await repository.remove(session, webhook_id)
    if name is None:
        raise NotFound(f"There is no webhook {webhook_id}.")
    audit.record(session, caller.actor, "webhook.delete", name, address=caller.address, webhook_id=str(webhook_id))
