"""Profiles that operators promoted in place of the catalogue's: one set for the whole process, put in force from outside.

A calibration changes an RNIC model's performance and limits; every stage reads it through `profiles` or `profile_of`.
The caller (a job, the backend) knows where versions are stored; this module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Limit, Profile
from wallwatch.domain.performance.formulas import masks_at_bandwidth_loss
from wallwatch.domain.performance.parameters import Performance

Key = tuple[str, str, str]
"""Model, driver, firmware; an empty driver or firmware matches all."""


class Promotion(NamedTuple):
    """Replacement for the catalogue's profile of a model, or of one of its drivers or firmwares."""

    model: str
    driver: str
    fw_ver: str
    performance: Performance
    limits: Mapping[str, float]
    """Limits of walls that were measured, wall -> value; others are the catalogue's, those of masks are derived again."""
    source: str


class _Force:
    models: Mapping[str, Profile] | None = None
    scoped: Mapping[Key, Profile] = {}


def applied(profile: Profile, promotion: Promotion, loss_share: float) -> Profile:
    """A profile with the parameters and limits of a promotion.

    Raises
    ------
    ValueError
        When a limit is of no known wall or not positive, or no wall of masks can be derived.
    """
    limits = dict(profile.limits)
    for direction in ("egress", "ingress"):
        masks = masks_at_bandwidth_loss(promotion.performance, loss_share, direction)
        limits[f"{direction}_masks"] = Limit(
            value=max(masks, 1),
            basis="calibrated",
            source=f"{promotion.source}: a decline by {loss_share:.0%} from the bandwidth of the head mask",
        )
    for wall, value in promotion.limits.items():
        if wall not in profile.limits:
            raise ValueError(f"unknown wall {wall!r} (expected one of {', '.join(profile.limits)})")
        limits[wall] = Limit(value=value, basis="calibrated", source=promotion.source)
    return profile.model_copy(
        update={
            "performance": promotion.performance,
            "performance_basis": "calibrated",
            "performance_source": promotion.source,
            "limits": limits,
        }
    )


def use(promotions: Iterable[Promotion]) -> list[str]:
    """Put exactly these promotions in force; returns what could not be used, with the reason. The catalogue's profile stays there."""
    printed, share = load.profiles(), load.mask_loss_share()
    scoped: dict[Key, Profile] = {}
    problems = []
    for one in promotions:
        base = printed.get(one.model)
        if base is None:
            problems.append(f"{one.model}: unknown model")
            continue
        try:
            scoped[one.model, one.driver, one.fw_ver] = applied(base, one, share)
        except ValueError as problem:
            problems.append(f"{one.model} {one.driver} {one.fw_ver}: {problem}")
    _Force.scoped = scoped
    _Force.models = {name: scoped.get((name, "", ""), profile) for name, profile in printed.items()} if scoped else None
    return problems


def profiles() -> Mapping[str, Profile]:
    """Every model as it is in force: the catalogue's, or what was promoted for all its drivers and firmwares."""
    return _Force.models or load.profiles()


def profile_of(model: str | None, driver: str | None = None, fw_ver: str | None = None) -> Profile | None:
    """The profile of one RNIC: that of its firmware before that of its driver before that of its model.

    >>> profile_of("CX-6", "mlx5_core", "20.35.1012").id, profile_of("unheard of")
    ('CX-6', None)
    """
    if not model:
        return None
    if _Force.scoped:
        for key in ((model, driver or "", fw_ver or ""), (model, "", fw_ver or ""), (model, driver or "", "")):
            found = _Force.scoped.get(key)
            if found is not None:
                return found
    return profiles().get(model)
