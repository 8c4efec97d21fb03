"""Takes rollouts back: on order, and step by step. All that is known of it is in the database, so that any replica can go on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from wallwatch_backend.audit import service as audit
from wallwatch_backend.control import repository as admission
from wallwatch_backend.control.service import most_hosts
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.remedies import service as orders
from wallwatch_backend.remedies.errors import NoAgent, NotUndoable, RemedyInProgress
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.rollouts import repository, telling
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.rollouts.schemas import RolloutState, UndoRollout
from wallwatch_backend.rollouts.standing import can_be_taken_back, standing
from wallwatch_backend.rollouts.undoing import Place, Standing, next_undo
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks.schemas import EventType


async def begin(session: WriteSession, caller: Caller, row: RolloutRow, body: UndoRollout) -> None:
    """Note the order; the driver gives it to the hosts, from the last wave to the first."""
    if not can_be_taken_back(row.action, await repository.remedies_of(session, [row.id])):
        raise NotUndoable("No target has anything that an undo could put back.")
    at = clock.now()
    row.state, row.updated_at = RolloutState.undoing, at
    row.undo = {**body.model_dump(), "by": caller.actor, "began_at": at.isoformat(), "message": None}
    _record(session, caller.actor, row, "undo", address=caller.address, **body.model_dump())
    await telling.tell(session, EventType.rollout_undo_started, row)


async def step(session: WriteSession, settings: Settings, signer: CommandSigner, row: RolloutRow, caller: Caller, at: datetime) -> None:
    """Ask the next targets, or end. `row` is locked and being taken back."""
    remedies = {(remedy.host, remedy.pci): remedy for remedy in await repository.remedies_of(session, [row.id])}
    order = row.undo or {}
    waves = await _standings(session, row, remedies, datetime.fromisoformat(order["began_at"]))
    limit = most_hosts(settings, await admission.fleet_size(session))
    then = next_undo(waves, limit, despite_failures=order["despite_failures"])
    if then.verdict == "done":
        row.state, row.updated_at = RolloutState.undone, at
        _record(session, caller.actor, row, "undone")
        await telling.tell(session, EventType.rollout_undone, row)
    elif then.verdict == "halt":
        await pause(session, row, f"{sentence(then.why)} Look at why, then take it back again.", at)
        _record(session, caller.actor, row, "undo_paused", outcome="failed", reason=then.why)
    for place in then.ask:
        try:
            await orders.undo(session, settings, signer, caller, remedies[place].id)
        except (RemedyInProgress, NoAgent):
            continue  # something else is under way on the host: it is asked when that is over


async def pause(session: WriteSession, row: RolloutRow, why: str, at: datetime) -> None:
    row.state, row.updated_at = RolloutState.undo_paused, at
    row.undo = {**(row.undo or {}), "message": why}
    await telling.tell(session, EventType.rollout_paused, row)


def go_on(row: RolloutRow, at: datetime) -> None:
    """Try again what failed or did not answer, and whatever is left."""
    row.state, row.undo = RolloutState.undoing, {**(row.undo or {}), "began_at": at.isoformat(), "message": None}


async def _standings(
    session: WriteSession, row: RolloutRow, remedies: Mapping[Place, RemedyRow], began_at: datetime
) -> list[dict[Place, Standing]]:
    commands = await repository.undos_of(session, [remedy.id for remedy in remedies.values()])
    heard = await repository.hosts_with_agents(session, {host for host, _ in remedies})
    waves: list[dict[Place, Standing]] = []
    for targets in row.waves:
        places: list[Place] = [(target["host"], target["pci"]) for target in targets]
        waves.append({place: standing(remedies.get(place), commands, began_at) for place in places})
        waves[-1] |= {place: "silent" for place, now in waves[-1].items() if now == "to_undo" and place[0] not in heard}
    return waves


def _record(session: WriteSession, actor: str, row: RolloutRow, what: str, **detail: Any) -> None:
    audit.record(session, actor, f"rollout.{what}", str(row.id), remedy_action=row.action, **detail)
