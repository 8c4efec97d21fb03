"""`/nf-predictions`: what functions of a card get next to each other."""

from fastapi import APIRouter

from wallwatch_backend.contention.models.errors import NoModel
from wallwatch_backend.contention.predictions import service
from wallwatch_backend.contention.predictions.schemas import CardPrediction, PredictionRequest
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(tags=["contention"])


@router.post("/nf-predictions", operation_id="predictFunctions", responses=problems.responses(*WRITE_ERRORS, NoModel))
async def predict(caller: AsViewer, body: PredictionRequest, session: Reading) -> CardPrediction:
    """Predict the functions of one card, and whether one more may be added. Nothing is stored."""
    return await service.predict(session, body)
