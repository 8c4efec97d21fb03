"""`/nf-models` and `/nf-functions`: models of network functions, and what functions are promised."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.contention.models import service
from wallwatch_backend.contention.models.errors import NothingToRollBack, NotPromotable, UnusableProfiles
from wallwatch_backend.contention.models.schemas import (
    FunctionName,
    FunctionTerms,
    NetworkFunction,
    NewNfModel,
    NfModel,
    NfModels,
    NfReason,
    NfRollBack,
    NfVersion,
)
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.process_pool import TookTooLong

router = APIRouter(tags=["contention"])


@router.get("/nf-models", operation_id="listNfModels", responses=problems.responses(*READ_ERRORS))
async def list_models(caller: AsViewer, session: Reading) -> NfModels:
    """List the models of network functions with their versions, by function."""
    return NfModels(items=await service.list_models(session))


@router.post(
    "/nf-models",
    operation_id="createNfModel",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, UnusableProfiles, TookTooLong, IdempotencyKeyReused),
)
async def create_model(caller: AsOperator, body: NewNfModel, session: Writing, once: TheOnce) -> NfVersion:
    """Train a model on profiles. One that predicts worse than the active version is stored as refused, with the reason."""
    return await once(session, caller, body, NfVersion, lambda: service.create(session, caller, body))


@router.post("/nf-models/rollback", operation_id="rollBackNfModel", responses=problems.responses(*WRITE_ERRORS, NothingToRollBack))
async def roll_back(caller: AsOperator, body: NfRollBack, session: Writing) -> NfModel:
    """Restore the previously active version of a model; before the first, none is active."""
    return await service.roll_back(session, caller, body)


@router.get("/nf-models/{id}", operation_id="getNfModelVersion", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_version(caller: AsViewer, id: UUID, session: Reading) -> NfVersion:
    """Return a version with its model card: data, hashes, errors, ranges."""
    return await service.get_version(session, id)


@router.post(
    "/nf-models/{id}/promote",
    operation_id="promoteNfModel",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NotPromotable),
)
async def promote(caller: AsOperator, id: UUID, body: NfReason, session: Writing) -> NfModel:
    """Activate a version: predictions and placements use it from now on."""
    return await service.promote(session, caller, id, body.reason)


@router.put("/nf-functions/{function}", operation_id="setFunctionTerms", responses=problems.responses(*WRITE_ERRORS))
async def set_terms(
    caller: AsOperator, function: Annotated[FunctionName, Path(description="Name of the function")], body: FunctionTerms, session: Writing
) -> NetworkFunction:
    """Set how many cores a function needs, and which share of its solo throughput it may lose."""
    return await service.set_terms(session, caller, function, body)
