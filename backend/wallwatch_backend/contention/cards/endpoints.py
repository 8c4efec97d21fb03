"""`/nf-cards`: which functions run on which card."""

from fastapi import APIRouter

from wallwatch_backend.contention.cards import service
from wallwatch_backend.contention.cards.schemas import NfCards
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(tags=["contention"])


@router.get("/nf-cards", operation_id="listNfCards", responses=problems.responses(*READ_ERRORS))
async def list_cards(caller: AsViewer, session: Reading) -> NfCards:
    """List the cards on which network functions were measured in the last five minutes."""
    return NfCards(items=await service.list_cards(session))
