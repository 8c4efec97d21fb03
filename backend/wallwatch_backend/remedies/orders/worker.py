"""Expires commands and proposals, and verifies remedies by telemetry. Runs on one replica at a time."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from prometheus_client import Counter

from wallwatch.domain.telemetry.registry import measurements
from wallwatch_backend.fleet.rnics import cordons
from wallwatch_backend.hosts.command_keys.signing import rfc3339
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import actions, approval, notifications, repository, results, telemetry_repository
from wallwatch_backend.remedies.orders.action_hooks import hooks_of
from wallwatch_backend.remedies.orders.verification import Judgement, judge
from wallwatch_backend.remedies.states import REMEDY, RemedyState
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
VERIFIED = Counter("wallwatch_remedy_verifications", "Remedies judged by telemetry", ["action", "verdict"])


class FollowUp:
    """Expires and verifies, every `remedy_watch_s`."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings

    async def run(self) -> None:
        while True:
            await self.once()
            await asyncio.sleep(self._settings.remedy_watch_s)

    async def once(self) -> None:
        at = clock.now()
        async with self._database.read() as session:
            overdue = await repository.unanswered_since(session, at, at - timedelta(seconds=self._settings.command_grace_s))
            waiting = await repository.to_verify(session)
            unapproved = await repository.pending_since(session, at - timedelta(seconds=self._settings.remedy_proposal_ttl_s))
        for command_id, host in overdue:
            async with self._database.write() as writing:
                await results.expire_command(writing, command_id, host)
        for remedy_id in unapproved:
            async with self._database.write() as writing:
                await approval.expire(writing, remedy_id)
        for remedy_id in waiting:
            await self._verify(remedy_id)

    async def _verify(self, remedy_id: UUID) -> None:
        async with self._database.write() as session:
            row = await repository.one_locked(session, remedy_id)
            if row is None or row.state != RemedyState.verifying or row.verification is None or row.applied_at is None:
                return
            verification = actions.action_of(row.action).verification
            deadline = datetime.fromisoformat(row.verification["deadline"])
            samples = await samples_of(session, row, verification.signal, row.applied_at)
            judgement = judge(
                samples, partial(verification.holds, params=row.params), for_s=verification.for_s, deadline=deadline, at=clock.now()
            )
            if judgement.verdict == "waiting" and judgement.measured == row.verification["measured"]:
                return
            _note_measurement(row, judgement)
            if judgement.verdict != "waiting":
                row.state = RemedyState(judgement.verdict)
                VERIFIED.labels(row.action, judgement.verdict).inc()
                await note_remedy(session, row.incident_id, "wallwatch", _sentence(row))
                await notifications.notify(session, row)
            await changes.announce(session, "remedy", row.id, row.state)


def _note_measurement(row: RemedyRow, judgement: Judgement) -> None:
    measured_at = rfc3339(judgement.measured_at) if judgement.measured_at is not None else None
    row.verification = {**(row.verification or {}), "measured": judgement.measured, "measured_at": measured_at}
    row.updated_at = clock.now()


def _sentence(row: RemedyRow) -> str:
    verification = row.verification or {}
    measured = "no value arrived" if verification["measured"] is None else f"measured {verification['measured']:.3g}"
    return f"{row.action} {REMEDY[row.state].sentence}: {verification['label']} expected {verification['expected']}, {measured}."


async def samples_of(session: ReadSession, row: RemedyRow, signal: str, since: datetime) -> Sequence[tuple[datetime, float]]:
    """Samples of a remedy's signal after it was applied, oldest first."""
    own = await hooks_of(row.action).samples(session, row, since)
    if own is not None:
        return own
    match signal:
        case "cordoned":  # the agent reports it with its result, after reading the cordon back
            cordoned, at = await cordons.cordon_of(session, row.host, row.pci or "")
            return [(at, float(cordoned))] if at is not None and at >= since else []
        case "in_force":  # likewise: the agent has read back what it wrote
            return [(since, 1.0)]
        case "vf_max_tx_mbps":
            return await telemetry_repository.of_function(session, row.host, row.pci or "", int(row.params["vf"]), since)
    for measurement in ("rnic_offload", "rnic"):
        if (field := measurements()[measurement].fields.get(signal)) is not None:
            return await telemetry_repository.of_rnic(session, row.host, row.pci, measurement, field, since)
    if (field := measurements()["ovs_datapath"].fields.get(signal)) is not None:
        return await telemetry_repository.of_host(session, row.host, field, since)
    log.error("verification_signal_unknown", action=row.action, signal=signal)
    return []
