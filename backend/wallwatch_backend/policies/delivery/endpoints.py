"""`/policies/delivery`: which agents run which policies."""

from fastapi import APIRouter, Request

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.policies.delivery import service
from wallwatch_backend.policies.delivery.agent_config import PolicyFile
from wallwatch_backend.policies.delivery.schemas import PolicyDelivery

router = APIRouter(tags=["policies"])


@router.get("/policies/delivery", operation_id="getPolicyDelivery", responses=problems.responses(*READ_ERRORS))
async def get_delivery(caller: AsViewer, request: Request, session: Reading) -> PolicyDelivery:
    """Return how many agents run the current policies, and which refuse them."""
    file: PolicyFile = request.app.state.policy_file
    return await service.delivery(session, await file.current())
