"""Sends pending deliveries: signed, with time-outs, retried with exponential backoff and jitter.

One worker per webhook, so that a slow receiver delays no other; deliveries of one subject are sent one after another.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from cryptography.fernet import InvalidToken
from prometheus_client import Counter

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.notify.deliveries import repository, traces
from wallwatch_backend.notify.deliveries.mailer import Mailer
from wallwatch_backend.notify.deliveries.outcome import Outcome
from wallwatch_backend.notify.deliveries.requests import request_of
from wallwatch_backend.notify.deliveries.sender import Sender, client
from wallwatch_backend.notify.models import DeliveryRow, WebhookRow
from wallwatch_backend.notify.schemas import TEST_EVENT, Format
from wallwatch_backend.notify.states import DeliveryState
from wallwatch_backend.notify.webhooks import repository as webhooks
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
ATTEMPTS = Counter("wallwatch_webhook_attempts", "Attempts to deliver an event", ["outcome"])

_BATCH = 16
_LOG_KEPT = timedelta(days=30)


@dataclass(frozen=True)
class Claimed:
    """A delivery that this process claimed, independent of the database session."""

    delivery_id: UUID
    webhook_id: UUID
    event: str
    subject: str
    format: Format
    url: str
    body: str
    secret: bytes
    credential: bytes | None
    attempt: int
    may_send: bool  # a disabled webhook gets test events only


def backoff_s(settings: Settings, attempt: int, rng: random.Random) -> float:
    """Seconds until the next attempt: doubling from the base to the maximum, then a random half to whole of it."""
    longest = min(settings.webhook_retry_base_s * 2.0 ** min(attempt - 1, 30), settings.webhook_retry_max_s)
    return longest * (0.5 + 0.5 * rng.random())


def pause_after_s(settings: Settings, outcome: Outcome, usual_s: float) -> float:
    """Seconds until the next attempt: as usual, or as long as the receiver asks for, within the longest pause of the settings."""
    return max(usual_s, min(outcome.retry_after_s or 0.0, settings.webhook_retry_max_s))


def lease_of(settings: Settings) -> timedelta:
    """How long a claimed delivery waits in case its worker dies."""
    return timedelta(seconds=settings.webhook_timeout_s * 2 + 30)


def longest_wait(settings: Settings) -> timedelta:
    """The longest time for which a delivery is ever postponed."""
    return max(lease_of(settings), timedelta(seconds=settings.webhook_retry_max_s))


class Dispatcher:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, settings: Settings, cipher: SecretCipher) -> None:
        self._database, self._settings, self._cipher = database, settings, cipher
        self._mailer = Mailer(settings)
        self._rng = random.Random()  # noqa: S311 - jitter, not a secret
        self._busy: set[UUID] = set()
        self.woken = asyncio.Event()

    async def run(self) -> None:
        """Send until cancelled."""
        settings = self._settings
        self._busy.clear()
        async with client(settings.webhook_timeout_s) as http, asyncio.TaskGroup() as workers:
            sender = Sender(http, settings.webhook_timeout_s, settings.webhook_allow_private)
            while True:
                self.woken.clear()
                async with self._database.read() as session:
                    webhook_ids = await repository.webhooks_with_due(session, clock.now(), longest_wait(settings), self._busy)
                for webhook_id in webhook_ids:
                    self._busy.add(webhook_id)
                    workers.create_task(self._send_due(webhook_id, sender))
                if not webhook_ids:
                    await self._sleep()

    async def _sleep(self) -> None:
        async with self._database.read() as session:
            due = await repository.next_due(session, self._busy)
        wait_s = 30.0 if due is None else min(max((due - clock.now()).total_seconds(), 0.05), 30.0)
        try:
            await asyncio.wait_for(self.woken.wait(), wait_s)
        except TimeoutError:
            return

    async def _send_due(self, webhook_id: UUID, sender: Sender) -> None:
        """Send all due deliveries of one webhook."""
        try:
            while claimed := await self._claim(webhook_id):
                sending = {asyncio.create_task(self._send(sender, delivery)) for delivery in claimed}
                try:
                    while sending:  # those that finish while results are recorded are recorded together
                        ended, sending = await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
                        await self._record(webhook_id, [task.result() for task in ended])
                finally:
                    for task in sending:
                        task.cancel()
        finally:
            self._busy.discard(webhook_id)
            self.woken.set()

    async def _claim(self, webhook_id: UUID) -> list[Claimed]:
        lease = lease_of(self._settings)
        async with self._database.write() as session:
            rows = await repository.claim_due(session, webhook_id, clock.now(), lease, longest_wait(self._settings), _BATCH)
            return [
                Claimed(
                    delivery_id=d.id,
                    webhook_id=w.id,
                    event=d.event,
                    subject=d.subject,
                    format=Format(w.format),
                    url=w.url,
                    body=d.body,
                    secret=w.secret,
                    credential=w.credential,
                    attempt=d.attempt_count + 1,
                    may_send=w.enabled or d.event == TEST_EVENT,
                )
                for d, w in rows
            ]

    async def _send(self, sender: Sender, claimed: Claimed) -> tuple[Claimed, Outcome]:
        if not claimed.may_send:
            return claimed, Outcome(clock.now(), None, 0, "the webhook is disabled")
        at = clock.now()
        if claimed.format is Format.email:
            return claimed, await self._mailer.send(claimed.url, claimed.body, claimed.delivery_id, at)
        try:
            credential = self._cipher.decrypt(claimed.credential) if claimed.credential is not None else None
            secret = self._cipher.decrypt(claimed.secret)
        except InvalidToken:
            return claimed, Outcome(at, None, 0, "the server's key does not open this webhook's secret: enter it again")
        request = request_of(claimed.format, claimed.url, claimed.body, credential, secret, claimed.delivery_id, at)
        if self._database.traces is not None:
            request.headers.update(traces.header(claimed.subject, claimed.delivery_id, at))
        secrets = [secret] if credential is None else [secret, credential]
        return claimed, await sender.send(request.url, request.body, request.headers, at, secrets)

    async def _record(self, webhook_id: UUID, ended: Sequence[tuple[Claimed, Outcome]]) -> None:
        """Record the outcomes of attempts in one transaction."""
        async with self._database.write() as session:
            # The webhook first, as its deletion does, which then takes its deliveries: the other way round both would wait for ever.
            webhook = await webhooks.get_locked(session, webhook_id)
            deliveries = await repository.get_many_locked(session, webhook_id, [claimed.delivery_id for claimed, _ in ended])
            for claimed, outcome in sorted(ended, key=lambda result: result[1].at):
                ATTEMPTS.labels(DeliveryState.delivered if outcome.delivered else DeliveryState.failed).inc()
                delivery = deliveries.get(claimed.delivery_id)
                if session.is_traced:
                    traces.note(session, claimed.subject, claimed.delivery_id, claimed.event, claimed.attempt, claimed.url, outcome)
                if delivery is not None and webhook is not None:  # otherwise it was deleted meanwhile
                    self._record_one(session, webhook, delivery, claimed, outcome)

    def _record_one(self, session: WriteSession, webhook: WebhookRow, delivery: DeliveryRow, claimed: Claimed, outcome: Outcome) -> None:
        settings = self._settings
        values = {"at": outcome.at, "status": outcome.status, "duration_ms": outcome.duration_ms, "error": outcome.error}
        repository.add_attempt(session, delivery_id=delivery.id, **values)
        delivery.attempt_count = claimed.attempt
        if outcome.delivered:
            delivery.state, delivery.delivered_at, delivery.next_attempt_at = DeliveryState.delivered, outcome.at, None
            webhook.last_delivery_at, webhook.failing_since = outcome.at, None
            return
        gone = outcome.status == 410  # the receiver unsubscribes (Standard Webhooks)
        if outcome.refused or not claimed.may_send or claimed.attempt >= settings.webhook_max_attempts:
            delivery.state, delivery.next_attempt_at = DeliveryState.failed, None
        else:
            pause_s = pause_after_s(settings, outcome, backoff_s(settings, claimed.attempt, self._rng))
            delivery.next_attempt_at = clock.now() + timedelta(seconds=pause_s)
        if not claimed.may_send or claimed.event == TEST_EVENT:
            return
        webhook.failing_since = webhook.failing_since or outcome.at
        failing_h = (outcome.at - webhook.failing_since).total_seconds() / 3600
        if webhook.enabled and (gone or failing_h >= settings.webhook_disable_after_h):
            webhook.enabled = False
            webhook.disabled_reason = "The receiver answered 410 Gone." if gone else f"Every delivery failed for {failing_h:.0f} hours."
            log.warning("webhook_disabled", webhook_id=str(webhook.id), reason=webhook.disabled_reason)

    async def delete_old(self) -> None:
        """Delete finished deliveries after 30 days."""
        async with self._database.write() as session:
            await repository.delete_finished_before(session, clock.now() - _LOG_KEPT)
