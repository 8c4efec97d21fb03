"""Turns rows of rollouts into what API and webhooks show."""

from collections.abc import Mapping, Sequence
from itertools import chain
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.rollouts import repository
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.schemas import Rollout, RolloutEventData, RolloutUndo, TargetState
from wallwatch_backend.remedies.rollouts.states import UNDOABLE
from wallwatch_backend.remedies.rollouts.undo_targets import can_be_undone, may_have_changed
from wallwatch_backend.remedies.states import WORKED, RemedyState

MOST_TARGETS = 100
"""In one webhook event; the others are counted."""


async def rollout(session: ReadSession, row: RolloutRow) -> Rollout:
    return (await rollouts(session, [row]))[0]


async def rollouts(session: ReadSession, rows: Sequence[RolloutRow]) -> list[Rollout]:
    by_place = {(r.rollout_id, r.host, r.pci): r for r in await repository.remedies_of(session, [row.id for row in rows])}
    presented = []
    with_undo = {row.id for row in rows if row.undo is not None}
    undos = await repository.undos_of(session, [r.id for r in by_place.values() if r.rollout_id in with_undo])
    for row in rows:
        waves = [[_target(target, by_place.get((row.id, target["host"], target["pci"])), undos) for target in wave] for wave in row.waves]
        targets = list(chain.from_iterable(waves))
        fields = {name: getattr(row, name) for name in Rollout.model_fields if name not in _COMPUTED}
        remedies = [remedy for (rollout_id, _, _), remedy in by_place.items() if rollout_id == row.id]
        presented.append(
            Rollout(
                **fields,
                waves=waves,
                confirmed=sum(target.state in WORKED for target in targets),
                targets=len(targets),
                undoable=row.state in UNDOABLE and can_be_undone(row.action, remedies),
                undo=_undo(row, remedies),
            )
        )
    return presented


async def rollout_event(session: ReadSession, row: RolloutRow) -> RolloutEventData:
    """The rollout with its present wave only: all of a large one would be a megabyte."""
    full = await rollout(session, row)
    wave = full.waves[full.wave]
    return RolloutEventData(
        **full.model_dump(exclude={"waves"}),
        wave_count=len(full.waves),
        wave_targets=wave[:MOST_TARGETS],
        truncated=max(len(wave) - MOST_TARGETS, 0),
    )


_COMPUTED = frozenset({"waves", "confirmed", "targets", "undoable", "undo"})


def _undo(row: RolloutRow, remedies: Sequence[RemedyRow]) -> RolloutUndo | None:
    if row.undo is None:
        return None
    undone = sum(remedy.state == RemedyState.undone for remedy in remedies)
    return RolloutUndo.model_validate(
        {**row.undo, "undone": undone, "targets": undone + sum(may_have_changed(remedy) for remedy in remedies)}
    )


def _target(target: dict[str, str | None], remedy: RemedyRow | None, undos: Mapping[UUID, CommandRow]) -> TargetState:
    undo = undos.get(remedy.id) if remedy is not None else None
    return TargetState.model_validate(
        {
            **target,
            "remedy_id": remedy.id if remedy is not None else None,
            "state": remedy.state if remedy is not None else None,
            "message": remedy.message if remedy is not None else None,
            "undo_state": undo.state if undo is not None else None,
            "undo_message": undo.message if undo is not None else None,
        }
    )
