"""Turns rows of rollouts into what the API and webhooks show."""

from collections.abc import Sequence
from itertools import chain

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.rollouts import repository
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.rollouts.schemas import Rollout, RolloutNews, TargetState

MOST_TARGETS = 100
"""In one event for a webhook; the others are counted."""


async def one(session: ReadSession, row: RolloutRow) -> Rollout:
    return (await many(session, [row]))[0]


async def many(session: ReadSession, rows: Sequence[RolloutRow]) -> list[Rollout]:
    by_place = {(r.rollout_id, r.host, r.pci): r for r in await repository.remedies_of(session, [row.id for row in rows])}
    shown = []
    for row in rows:
        waves = [[_target(target, by_place.get((row.id, target["host"], target["pci"]))) for target in wave] for wave in row.waves]
        targets = list(chain.from_iterable(waves))
        fields = {name: getattr(row, name) for name in Rollout.model_fields if name not in ("waves", "verified", "targets")}
        verified = sum(target.state == "verified" for target in targets)
        shown.append(Rollout(**fields, waves=waves, verified=verified, targets=len(targets)))
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


def _target(target: dict[str, str | None], remedy: RemedyRow | None) -> TargetState:
    return TargetState.model_validate(
        {
            **target,
            "remedy_id": remedy.id if remedy is not None else None,
            "state": remedy.state if remedy is not None else None,
            "message": remedy.message if remedy is not None else None,
        }
    )
