"""`/nf-cards/{host}/{pci}/course` and `/nf-headrooms`: functions over time, and how close each card is to an SLA."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel

from wallwatch_backend.contention.courses import service
from wallwatch_backend.contention.courses.schemas import CardCourse, CardHeadrooms
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.json_answers import TheSharedJson
from wallwatch_backend.kit.text import HostName, PciAddress

router = APIRouter(tags=["contention"])
Host = Annotated[HostName, Path(description="Host name")]
Pci = Annotated[PciAddress, Path(description="PCI address of the card's function")]


class NoQuery(BaseModel):
    """Nothing to choose."""


@router.get("/nf-cards/{host}/{pci}/course", operation_id="getNfCardCourse", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_course(caller: AsViewer, host: Host, pci: Pci, session: Reading) -> CardCourse:
    """Return what the functions of a card lost in the last two hours, and what they will lose within the next if their traffic goes on."""
    return await service.course(session, host, pci)


@router.get("/nf-headrooms", operation_id="listNfHeadrooms", response_model=CardHeadrooms, responses=problems.responses(*READ_ERRORS))
async def list_headrooms(request: Request, caller: AsViewer, shared: TheSharedJson) -> Response:
    """List the function of each card that is closest to its SLA, where it has a model and an SLA."""
    return await shared.response(request, "listNfHeadrooms", NoQuery(), service.headrooms)
