"""Rolls rollouts back, step by step. All state is in the database, so that any replica can continue."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.remedies.control import repository as admission
from wallwatch_backend.remedies.control.service import most_hosts
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import service as orders
from wallwatch_backend.remedies.orders.errors import NoAgent, NotUndoable, RemedyInProgress
from wallwatch_backend.remedies.rollouts import notifications, repository
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.schemas import UndoRollout
from wallwatch_backend.remedies.rollouts.states import RolloutState
from wallwatch_backend.remedies.rollouts.undo_order import Place, Standing, next_undo
from wallwatch_backend.remedies.rollouts.undo_targets import can_be_undone, standing
from wallwatch_backend.settings import Settings


async def begin(session: WriteSession, caller: Caller, row: RolloutRow, body: UndoRollout) -> None:
    """Start a rollback; the worker undoes the targets, from the last wave to the first."""
    if not can_be_undone(row.action, await repository.remedies_of(session, [row.id])):
        raise NotUndoable("No target has anything that an undo could restore.")
    at = clock.now()
    row.state, row.updated_at = RolloutState.undoing, at
    row.undo = {**body.model_dump(), "by": caller.actor, "began_at": at.isoformat(), "message": None}
    _record(session, caller.actor, row, "undo", address=caller.address, **body.model_dump())
    await notifications.notify(session, row)


async def step(session: WriteSession, settings: Settings, signer: CommandSigner, row: RolloutRow, caller: Caller, at: datetime) -> None:
    """Undo the next targets, or end. `row` is locked and being rolled back."""
    remedies = {(remedy.host, remedy.pci): remedy for remedy in await repository.remedies_of(session, [row.id])}
    request = row.undo or {}
    waves = await _standings(session, row, remedies, datetime.fromisoformat(request["began_at"]))
    limit = most_hosts(settings, await admission.fleet_size(session))
    following = next_undo(waves, limit, despite_failures=request["despite_failures"])
    if following.verdict == "done":
        row.state, row.updated_at = RolloutState.undone, at
        _record(session, caller.actor, row, "undone")
        await notifications.notify(session, row)
    elif following.verdict == "halt":
        await pause(session, row, f"{sentence(following.why)} Find out why, then roll back again.", at)
        _record(session, caller.actor, row, "undo_paused", outcome="failed", reason=following.why)
    for place in following.undo:
        try:
            await orders.undo(session, settings, signer, caller, remedies[place].id)
        except (RemedyInProgress, NoAgent):
            continue  # something else is under way on the host: undone when that has finished


async def pause(session: WriteSession, row: RolloutRow, why: str, at: datetime) -> None:
    row.state, row.updated_at = RolloutState.undo_paused, at
    row.undo = {**(row.undo or {}), "message": why}
    await notifications.notify(session, row)


def continue_undo(row: RolloutRow, at: datetime) -> None:
    """Retry what failed or did not answer, and continue with what is left."""
    row.state, row.undo = RolloutState.undoing, {**(row.undo or {}), "began_at": at.isoformat(), "message": None}


async def _standings(
    session: WriteSession, row: RolloutRow, remedies: Mapping[Place, RemedyRow], began_at: datetime
) -> list[dict[Place, Standing]]:
    commands = await repository.undos_of(session, [remedy.id for remedy in remedies.values()])
    with_agent = await repository.hosts_with_agents(session, {host for host, _ in remedies})
    waves: list[dict[Place, Standing]] = []
    for targets in row.waves:
        places: list[Place] = [(target["host"], target["pci"]) for target in targets]
        waves.append({place: standing(remedies.get(place), commands, began_at) for place in places})
        waves[-1] |= {place: "silent" for place, now in waves[-1].items() if now == "to_undo" and place[0] not in with_agent}
    return waves


def _record(session: WriteSession, actor: str, row: RolloutRow, what: str, **detail: Any) -> None:
    audit.record(session, actor, f"rollout.{what}", str(row.id), remedy_action=row.action, **detail)
