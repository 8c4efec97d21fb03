"""Profiles: the list, one profile, its surface, predictions, versions, comparison."""

import math
from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from wallwatch.domain.calibration.result import Calibration
from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Profile as DomainProfile
from wallwatch.domain.forecast.physical_model import one_in_flight
from wallwatch.domain.performance.formulas import bandwidth_gbps, bandwidths_gbps, latency_us
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.predict import predict
from wallwatch_backend.fleet.profiles import peers, present, repository
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.fleet.profiles.schemas import (
    ComparedPoint,
    Comparison,
    Estimate,
    PlacedRnic,
    Predicted,
    Profile,
    ProfileSummary,
    ProfileVersion,
    Surface,
    VersionSummary,
)
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import NotFound

SURFACE_STEPS = 41
FRESH = timedelta(minutes=10)  # older samples do not show where an RNIC is now
MOST_PLACED = 5_000


def of_catalogue(model: str) -> DomainProfile:
    """Return the catalogue's profile, or raise `NotFound` with the known models."""
    profile = load.profiles().get(model)
    if profile is None:
        raise NotFound(f"Unknown profile {model!r} (expected one of {', '.join(load.profiles())}).")
    return profile


async def list_profiles(session: ReadSession) -> list[ProfileSummary]:
    active, waiting = await repository.active(session), await repository.waiting(session)
    rnics = await repository.rnics_by_model(session)
    return [_summary(model, active, waiting.get(model, 0), rnics.get(model, 0)) for model in load.profiles()]


def _summary(model: str, active: Sequence[ProfileVersionRow], candidates: int, rnics: int) -> ProfileSummary:
    wide = present.wide(active, model)
    profile = present.profile_in_force(model, wide)
    p = profile.performance
    return ProfileSummary(
        model=model,
        title=profile.title,
        vendor=profile.vendor,
        rnics=rnics,
        active=wide.number if wide is not None else 0,
        scoped=sum(1 for row in active if row.model == model and row is not wide),
        candidates=candidates,
        parameters=present.parameters(p),
        parameters_basis=profile.performance_basis,
        parameters_source=profile.performance_source,
        head_gbps=bandwidth_gbps(p, 0.0, 0.0),
        head_us=latency_us(p, 0.0, 0.0),
    )


async def get_profile(session: ReadSession, model: str) -> Profile:
    base = of_catalogue(model)
    rows = list(await repository.versions(session, model))
    active = [row for row in rows if row.state == "active"]
    rnics = (await repository.rnics_by_model(session)).get(model, 0)
    head = _summary(model, active, sum(1 for row in rows if row.state == "candidate"), rnics)
    built_in = present.built_in(model)
    built_in.state = "active" if head.active == 0 else "retired"
    return Profile(
        **head.model_dump(),
        pci_ids=list(base.pci_ids),
        hca_types=list(base.hca_types),
        limits=present.limits(present.profile_in_force(model, present.wide(active, model))),
        versions=[*(present.summary(row) for row in rows), built_in],
        equation_note=present.EQUATION_NOTE,
    )


async def version_row(session: ReadSession, model: str, number: int) -> ProfileVersionRow:
    of_catalogue(model)
    row = await repository.version(session, model, number)
    if row is None:
        raise NotFound(f"Profile {model} has no version {number}.")
    return row


async def get_version(session: ReadSession, model: str, number: int) -> ProfileVersion:
    if number == 0:
        of_catalogue(model)
        return ProfileVersion(**present.built_in(model).model_dump(), calibration=None)
    return present.version(await version_row(session, model, number))


async def performance_of(session: ReadSession, model: str, number: int | None) -> tuple[Performance, int]:
    """Return the parameters of a version; of the active one when no number is given."""
    base = of_catalogue(model)
    if number == 0:
        return base.performance, 0
    row = await version_row(session, model, number) if number is not None else await repository.in_force(session, model, "", "")
    if row is None:
        return base.performance, 0
    performance = present.performance_of(row)
    if performance is None:
        raise NotFound(f"Version {row.number} was refused: it has no parameters.")
    return performance, row.number


async def surface(session: ReadSession, model: str, number: int | None, most: float) -> Surface:
    p, used = await performance_of(session, model, number)
    q = np.linspace(0.0, most, SURFACE_STEPS)
    left, right = np.meshgrid(q, q)
    return Surface(
        number=used,
        q_l=q.tolist(),
        q_r=q.tolist(),
        bandwidth_gbps=np.round(bandwidths_gbps(p, left, right), 3).tolist(),
        latency_us=np.round(p.a * left + p.b * right + p.c, 4).tolist(),
    )


async def predicted(session: ReadSession, model: str, number: int | None, q_l: float, q_r: float) -> Predicted:
    p, used = await performance_of(session, model, number)
    prediction = predict(p, q_l, q_r)

    def estimate(value: float, lower: float, upper: float) -> Estimate:
        return Estimate(value=value, lower=lower, upper=upper)

    return Predicted(
        model=model,
        number=used,
        q_l=q_l,
        q_r=q_r,
        bandwidth_gbps=estimate(prediction.bandwidth_gbps.value, prediction.bandwidth_gbps.lower, prediction.bandwidth_gbps.upper),
        latency_us=estimate(prediction.latency_us.value, prediction.latency_us.lower, prediction.latency_us.upper),
        level=prediction.level,
        basis=prediction.basis,
        extrapolated=prediction.extrapolated,
    )


async def placed(session: ReadSession, model: str) -> list[PlacedRnic]:
    """Return the RNICs of a model on its surface, from samples of the last ten minutes."""
    p, _ = await performance_of(session, model, None)
    since = clock.now() - FRESH
    rows = await repository.newest_queries(session, model, since, MOST_PLACED)
    joined = await peers.remote_queries(session, [row.rnic_id for row in rows], clock.now())
    rnics = []
    for row in rows:
        remote = joined.get(row.rnic_id)
        q_l, q_r = float(row.q_egress), float(row.q_ingress) if remote is None else remote.mean
        place = one_in_flight(p, q_l, q_r, row.egress_sd, row.ingress_sd if remote is None else remote.spread)
        rnics.append(
            PlacedRnic(
                host=row.host,
                pci=row.pci,
                at=row.time,
                q_l=place[0],
                q_r=place[1],
                q_r_basis="own_ingress" if remote is None else "peers",
                expected_gbps=bandwidth_gbps(p, *place),
                expected_us=latency_us(p, q_l, q_r),
                measured_gbps=row.tx_gbps,
            )
        )
    return rnics


async def compare(session: ReadSession, model: str, left: int, right: int) -> Comparison:
    """Compare two versions at every point that either was fitted to."""
    sides = []
    points: dict[tuple[str, str, float, float], float] = {}
    for number in (left, right):
        if number == 0:
            of_catalogue(model)
            sides.append((present.built_in(model), load.profiles()[model].performance))
            continue
        row = await version_row(session, model, number)
        calibration = Calibration.model_validate(row.calibration)
        for fit in (calibration.bandwidth, calibration.latency):
            for point in fit.points if fit is not None else ():
                points[fit.quantity if fit is not None else "", point.source, point.q_l, point.q_r] = point.measured
        performance = present.performance_of(row)
        if performance is None:
            raise NotFound(f"Version {number} was refused: it has no parameters to compare.")
        sides.append((present.summary(row), performance))
    compared = []
    for (quantity, source, q_l, q_r), measured in points.items():
        predictions = [bandwidth_gbps(p, q_l, q_r) if quantity == "bandwidth" else latency_us(p, q_l, q_r) for _, p in sides]
        compared.append(
            ComparedPoint.model_validate(
                {
                    "quantity": quantity,
                    "source": source,
                    "q_l": q_l,
                    "q_r": q_r,
                    "measured": measured,
                    "left": predictions[0],
                    "right": predictions[1],
                }
            )
        )
    left_summary: VersionSummary = sides[0][0]
    return Comparison(
        left=left_summary, right=sides[1][0], points=compared, left_error=_errors(compared, "left"), right_error=_errors(compared, "right")
    )


def _errors(points: list[ComparedPoint], side: str) -> dict[str, float]:
    errors = {}
    for quantity in ("bandwidth", "latency"):
        off = [getattr(p, side) / p.measured - 1.0 for p in points if p.quantity == quantity]
        if off:
            errors[quantity] = math.sqrt(sum(x * x for x in off) / len(off))
    return errors
