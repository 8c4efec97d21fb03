"""Expires commands and proposals, and checks the two facts of applied remedies. Runs on one replica at a time."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from prometheus_client import Counter

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.remedy_models import Check
from wallwatch.domain.telemetry.registry import measurements
from wallwatch_backend.fleet.rnics import cordons
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import actions, approval, facts, notifications, repository, results, telemetry_repository
from wallwatch_backend.remedies.orders.action_hooks import Samples, hooks_of
from wallwatch_backend.remedies.orders.verification import LATE_SAMPLES, Judgement, Verdict, judge, state_after
from wallwatch_backend.remedies.states import REMEDY, RemedyState
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
VERIFIED = Counter("wallwatch_remedy_verifications", "Applied remedies whose change or effect was judged", ["action", "verdict"])


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
            if row is None or row.state != RemedyState.verifying or row.change is None or row.applied_at is None:
                return
            before = (row.change, row.effect)
            change, effect = await _judge_change(session, row), await _judge_effect(session, row)
            symptom = (await repository.symptoms_now(session, [row.id])).get(row.id) if effect is not None else None
            row.state = state_after(
                change, effect, symptom_present=symptom is not None and symptom.present, patient=clock.now() <= _patience(row)
            )
            if row.state == RemedyState.verifying and before == (row.change, row.effect):
                return
            row.updated_at = clock.now()
            if row.state != RemedyState.verifying:
                VERIFIED.labels(row.action, row.state).inc()
                await note_remedy(session, row.incident_id, "wallwatch", _sentence(row, symptom))
                await notifications.notify(session, row)
            await changes.announce(session, "remedy", row.id, row.state)


async def _judge_change(session: ReadSession, row: RemedyRow) -> Verdict:
    if row.change is None or row.applied_at is None:
        return "waiting"
    if row.change["confirmed_at"] is not None:
        return "confirmed"
    check = actions.action_of(row.action).change
    found = _judged(row, row.change, check, await samples_of(session, row, check.signal, row.applied_at))
    row.change = facts.measured(row.change, found)
    return found.verdict


async def _judge_effect(session: ReadSession, row: RemedyRow) -> Verdict | None:
    """Judge the signal of the effect, and keep its samples from before the remedy until now."""
    if row.effect is None or row.applied_at is None:
        return None
    check = actions.action_of(row.action).cures[row.effect["symptom"]]
    issued = [command.issued_at for command in await repository.commands(session, [row.id]) if command.operation == "apply"]
    began = min([row.applied_at, *issued])
    samples = await effect_samples(session, row, check.signal, began - facts.BEFORE)
    found = _judged(row, row.effect, check, [(at, value) for at, value in samples if at > row.applied_at])
    if (effect := {**facts.measured(row.effect, found), "before": facts.mean_before(samples, began)}) != row.effect:
        row.effect, row.effect_samples = effect, {"samples": facts.thinned(samples)}
    return found.verdict


def _judged(row: RemedyRow, fact: dict[str, Any], check: Check, samples: Samples) -> Judgement:
    deadline = datetime.fromisoformat(fact["deadline"])
    return judge(samples, partial(check.holds, params=row.params), for_s=check.for_s, deadline=deadline, at=clock.now())


def _patience(row: RemedyRow) -> datetime:
    """Until when the symptom may clear: it needs a time of its own after its signal is back to normal, and its message takes a while."""
    if row.effect is None:
        return datetime.max.replace(tzinfo=UTC)
    clears_for_s = load.clear_for_s(row.effect["symptom"])
    return datetime.fromisoformat(row.effect["deadline"]) + timedelta(seconds=row.effect["for_s"] + clears_for_s) + 4 * LATE_SAMPLES


def _sentence(row: RemedyRow, symptom: repository.SymptomNow | None) -> str:
    """What the timeline says: each fact by its own signal."""
    parts = [f"{row.action} {REMEDY[row.state].sentence}.", _of_signal(row.change or {})]
    if row.effect is not None:
        parts.append(_of_signal(row.effect))
    if symptom is not None:
        parts.append(f"{symptom.symptom} {'is still present' if symptom.present else 'cleared'}.")
    elif row.state == RemedyState.change_confirmed and row.incident_id is not None:
        parts.append("This says nothing about the symptom.")
    return " ".join(parts)


def _of_signal(fact: dict[str, Any]) -> str:
    found = "no value arrived" if fact["measured"] is None else f"measured {fact['measured']:.3g}"
    before = f", {fact['before']:.3g} before" if fact.get("before") is not None else ""
    return f"{fact['label']} expected {fact['expected']}, {found}{before}."


async def effect_samples(session: ReadSession, row: RemedyRow, signal: str, since: datetime) -> Samples:
    """Samples of the signal that the remedy has to change, oldest first."""
    own = await hooks_of(row.action).samples(session, row, since)
    return own if own is not None else await samples_of(session, row, signal, since)


async def samples_of(session: ReadSession, row: RemedyRow, signal: str, since: datetime) -> Samples:
    """Samples of a signal where the remedy runs, oldest first."""
    match signal:
        case "cordoned":  # the agent reports it with its result, after reading the cordon back
            cordoned, at = await cordons.cordon_of(session, row.host, row.pci or "")
            return [(at, float(cordoned))] if at is not None and at >= since else []
        case "in_force":  # likewise: the agent has read back what it wrote
            return [(since, 1.0)]
        case "broken_s_per_min":
            return await telemetry_repository.broken_seconds(session, row.host, row.pci or "", since)
        case "vf_max_tx_mbps":
            return await telemetry_repository.of_function(session, row.host, row.pci or "", int(row.params["vf"]), "max_tx_mbps", since)
        case "vf_min_tx_mbps":
            return await telemetry_repository.of_function(session, row.host, row.pci or "", int(row.params["vf"]), "min_tx_mbps", since)
    for measurement in ("rnic_offload", "rnic"):
        if (field := measurements()[measurement].fields.get(signal)) is not None:
            return await telemetry_repository.of_rnic(session, row.host, row.pci, measurement, field, since)
    if (field := measurements()["ovs_datapath"].fields.get(signal)) is not None:
        return await telemetry_repository.of_host(session, row.host, field, since)
    log.error("verification_signal_unknown", action=row.action, signal=signal)
    return []
