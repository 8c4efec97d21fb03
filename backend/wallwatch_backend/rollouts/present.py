"""Turns rows of rollouts into what the API and webhooks show."""

from collections.abc import Mapping, Sequence
from itertools import chain
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.present import UNDOABLE
from wallwatch_backend.remedies.repository import OPEN
from wallwatch_backend.rollouts import repository
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.rollouts.schemas import UNDOABLE_FROM, Rollout, RolloutNews, RolloutUndo, TargetState
from wallwatch_backend.rollouts.standing import can_be_taken_back

MOST_TARGETS = 100
"""In one event for a webhook; the others are counted."""


async def one(session: ReadSession, row: RolloutRow) -> Rollout:
    return (await many(session, [row]))[0]


async def many(session: ReadSession, rows: Sequence[RolloutRow]) -> list[Rollout]:
    by_place = {(r.rollout_id, r.host, r.pci): r for r in await repository.remedies_of(session, [row.id for row in rows])}
    shown = []
    taken_back = {row.id for row in rows if row.undo is not None}
    undos = await repository.undos_of(session, [r.id for r in by_place.values() if r.rollout_id in taken_back])
    for row in rows:
        waves = [[_target(target, by_place.get((row.id, target["host"], target["pci"])), undos) for target in wave] for wave in row.waves]
        targets = list(chain.from_iterable(waves))
        fields = {name: getattr(row, name) for name in Rollout.model_fields if name not in _MADE}
        remedies = [remedy for (rollout_id, _, _), remedy in by_place.items() if rollout_id == row.id]
        shown.append(
            Rollout(
                **fields,
                waves=waves,
                verified=sum(target.state == "verified" for target in targets),
                targets=len(targets),
                undoable=row.state in UNDOABLE_FROM and can_be_taken_back(row.action, remedies),
                undo=_undo(row, remedies),
            )
        )
    return shown


async def news(session: ReadSession, row: RolloutRow) -> RolloutNews:
    """The rollout with its present wave only: all of a large one would be a megabyte."""
    full = await one(session, row)
    wave = full.waves[full.wave]
    return RolloutNews(
        **full.model_dump(exclude={"waves"}),
        wave_count=len(full.waves),
        wave_targets=wave[:MOST_TARGETS],
        truncated=max(len(wave) - MOST_TARGETS, 0),
    )


_MADE = frozenset({"waves", "verified", "targets", "undoable", "undo"})


def _undo(row: RolloutRow, remedies: Sequence[RemedyRow]) -> RolloutUndo | None:
    if row.undo is None:
        return None
    undone = sum(remedy.state == "undone" for remedy in remedies)
    return RolloutUndo.model_validate(
        {**row.undo, "undone": undone, "targets": undone + sum(remedy.state in (*OPEN, *UNDOABLE) for remedy in remedies)}
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
