"""Profiles as the API presents them, and the profile behind a version."""

from collections.abc import Sequence

from wallwatch.domain.calibration.result import Calibration
from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Profile as DomainProfile
from wallwatch.domain.catalogue.promoted import Promotion, applied
from wallwatch.domain.performance.parameters import Performance
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.fleet.profiles.schemas import Parameters, ProfileVersion, VersionSummary, WallLimit

EQUATION_NOTE = (
    "The paper prints the exponent as -(Q_l - m)^2 + (Q_r - n)^2. Read literally that gives 557 Gbit/s for a 200 Gbit/s CX-6 at the"
    " origin; the surface is rotationally symmetric, as its text says, so the missing bracket around the sum is restored."
)


def built_in(model: str) -> VersionSummary:
    """Return version 0, the catalogue's built-in profile."""
    profile = load.profiles()[model]
    return VersionSummary(
        id=None,
        number=0,
        driver="",
        fw_ver="",
        state="retired",
        source="catalogue",
        parameters=parameters(profile.performance),
        limits={},
        note=f"{profile.performance_basis}: {profile.performance_source}" if profile.performance_basis == "assumed" else "ScalaCN, Table 3",
        reasons=[],
        points=0,
        created_by=None,
        created_at=None,
        promoted_by=None,
        promoted_at=None,
        retired_at=None,
    )


def parameters(performance: Performance) -> Parameters:
    return Parameters.model_validate(performance.model_dump())


def performance_of(row: ProfileVersionRow) -> Performance | None:
    return None if row.performance is None else Performance.model_validate(row.performance)


def profile_in_force(model: str, row: ProfileVersionRow | None) -> DomainProfile:
    """Return the model's profile with a version applied, or the built-in one."""
    base = load.profiles()[model]
    performance = None if row is None else performance_of(row)
    if row is None or performance is None:
        return base
    promotion = Promotion(model, row.driver, row.fw_ver, performance, row.limits, f"version {row.number}")
    return applied(base, promotion, load.mask_loss_share())


def summary(row: ProfileVersionRow) -> VersionSummary:
    return VersionSummary.model_validate(_fields(row))


def version(row: ProfileVersionRow) -> ProfileVersion:
    return ProfileVersion.model_validate({**_fields(row), "calibration": row.calibration})


def _fields(row: ProfileVersionRow) -> dict[str, object]:
    calibration = Calibration.model_validate(row.calibration)
    performance = performance_of(row)
    names = ("id", "number", "driver", "fw_ver", "state", "source", "limits", "note", "created_by", "created_at", "promoted_by")
    return {
        **{name: getattr(row, name) for name in (*names, "promoted_at", "retired_at")},
        "parameters": None if performance is None else parameters(performance).model_dump(),
        "reasons": calibration.reasons,
        "points": sum(len(fit.points) for fit in (calibration.bandwidth, calibration.latency) if fit is not None),
    }


def limits(profile: DomainProfile) -> list[WallLimit]:
    return [
        WallLimit(
            wall=wall.id, label=wall.label, unit=wall.unit, **profile.limits[wall.id].model_dump(include={"value", "basis", "source"})
        )
        for wall in load.walls().values()
    ]


def wide(rows: Sequence[ProfileVersionRow], model: str) -> ProfileVersionRow | None:
    """Return the version that is active for all drivers and firmwares of a model."""
    return next((row for row in rows if row.model == model and row.state == "active" and not row.driver and not row.fw_ver), None)
