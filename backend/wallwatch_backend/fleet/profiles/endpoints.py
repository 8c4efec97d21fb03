"""`/profiles`: performance models of RNICs, their calibrations and versions."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from wallwatch_backend.fleet.profiles import calibrations, service
from wallwatch_backend.fleet.profiles.errors import NothingToFit, NothingToRollBack, NotPromotable
from wallwatch_backend.fleet.profiles.schemas import (
    Comparison,
    FleetCalibration,
    NewCalibration,
    PlacedRnic,
    Predicted,
    Profile,
    Profiles,
    ProfileVersion,
    Reason,
    RollBack,
    Surface,
)
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing

router = APIRouter(prefix="/profiles", tags=["profiles"])

Model = Annotated[str, Path(max_length=50, description="RNIC model, such as CX-6")]
Number = Annotated[int, Path(ge=0, le=2**31 - 1, description="Version; 0 is built-in")]
Version = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Version; default: the active one")]
Queries = Annotated[float, Query(ge=0, le=10_000, allow_inf_nan=False, description="Mean mask lookups per packet")]
ONE = problems.responses(*READ_ERRORS, problems.NotFound)


@router.get("", operation_id="listProfiles", responses=problems.responses(*READ_ERRORS))
async def list_profiles(caller: AsViewer, session: Reading) -> Profiles:
    """List every model with its active parameters."""
    return Profiles(items=await service.list_profiles(session))


@router.get("/{model}", operation_id="getProfile", responses=ONE)
async def get_profile(caller: AsViewer, model: Model, session: Reading) -> Profile:
    """Return one model: limits of its walls with their sources, and its versions."""
    return await service.get_profile(session, model)


@router.get("/{model}/surface", operation_id="getProfileSurface", responses=ONE)
async def get_surface(
    caller: AsViewer,
    model: Model,
    session: Reading,
    version: Version = None,
    to: Annotated[float, Query(ge=1, le=1000, description="Largest Q of both axes")] = 100.0,
) -> Surface:
    """Return bandwidth and latency over a grid of (Q_l, Q_r)."""
    return await service.surface(session, model, version, to)


@router.get("/{model}/prediction", operation_id="getProfilePrediction", responses=ONE)
async def get_prediction(caller: AsViewer, model: Model, session: Reading, ql: Queries, qr: Queries, version: Version = None) -> Predicted:
    """Predict bandwidth and latency at one (Q_l, Q_r), with intervals."""
    return await service.predicted(session, model, version, ql, qr)


@router.get("/{model}/rnics", operation_id="listProfileRnics", responses=ONE)
async def list_rnics(caller: AsViewer, model: Model, session: Reading) -> list[PlacedRnic]:
    """List the RNICs of a model with their place on its surface, from samples of the last ten minutes."""
    return await service.placed(session, model)


@router.get("/{model}/compare", operation_id="compareProfileVersions", responses=ONE)
async def compare(
    caller: AsViewer,
    model: Model,
    session: Reading,
    left: Annotated[int, Query(ge=0, le=2**31 - 1)],
    right: Annotated[int, Query(ge=0, le=2**31 - 1)],
) -> Comparison:
    """Compare two versions at every point that either was fitted to."""
    return await service.compare(session, model, left, right)


@router.get("/{model}/versions/{number}", operation_id="getProfileVersion", responses=ONE)
async def get_version(caller: AsViewer, model: Model, number: Number, session: Reading) -> ProfileVersion:
    """Return a version with its whole calibration: points, residuals, intervals."""
    return await service.get_version(session, model, number)


@router.post(
    "/{model}/calibrations",
    operation_id="createCalibration",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NothingToFit),
)
async def create_calibration(caller: AsOperator, model: Model, body: NewCalibration, session: Writing) -> ProfileVersion:
    """Fit the model to output of perftest. A fit that is worse than the active version is stored as refused, with the reason."""
    return await calibrations.from_perftest(session, caller, model, body)


@router.post(
    "/{model}/calibrations/fleet",
    operation_id="createFleetCalibration",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NothingToFit),
)
async def create_fleet_calibration(caller: AsOperator, model: Model, body: FleetCalibration, session: Writing) -> ProfileVersion:
    """Fit the model's bandwidth to the fleet's own samples."""
    return await calibrations.from_fleet(session, caller, model, body)


@router.post(
    "/{model}/versions/{number}/promote",
    operation_id="promoteProfileVersion",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NotPromotable),
)
async def promote(caller: AsOperator, model: Model, number: Number, body: Reason, session: Writing) -> Profile:
    """Activate a version: walls, symptoms and predictions use it within fifteen seconds."""
    return await calibrations.promote(session, caller, model, number, body.reason)


@router.post(
    "/{model}/rollback", operation_id="rollBackProfile", responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NothingToRollBack)
)
async def roll_back(caller: AsOperator, model: Model, body: RollBack, session: Writing) -> Profile:
    """Restore the previously active version; before the first, the built-in profile."""
    return await calibrations.roll_back(session, caller, model, body.driver, body.fw_ver, body.reason)
