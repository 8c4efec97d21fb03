"""`/-/healthy`, `/-/ready`, `/metrics`: outside `/api/v1`, without sign-in, for supervisors and Prometheus."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from prometheus_client import REGISTRY, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from wallwatch_backend.kit.database import TheDatabase
from wallwatch_backend.kit.health import service
from wallwatch_backend.kit.health.schemas import Alive, Readiness

router = APIRouter(tags=["health"])
# A series more for each counter, which nobody reads. The library has no types here.
disable_created_metrics()  # type: ignore[no-untyped-call]


@router.get("/-/healthy", operation_id="getHealthy")
async def healthy() -> Alive:
    """Answer while the process runs."""
    return Alive()


@router.get("/-/ready", operation_id="getReady", responses={503: {"model": Readiness, "description": "A part is missing; see `checks`"}})
async def ready(request: Request, response: Response, database: TheDatabase) -> Readiness:
    """Return whether database, migrations and Kafka are usable."""
    readiness = await service.readiness(database, request.app.state.kafka_probe)
    response.status_code = 200 if readiness.status == "ready" else 503
    return readiness


@router.get("/metrics", include_in_schema=False)
async def metrics(accept: Annotated[str, Header()] = "") -> Response:
    """Return this process's metrics in Prometheus's text format, or as OpenMetrics if the Accept header asks for it."""
    encode, media_type = choose_encoder(accept)
    return Response(encode(REGISTRY), media_type=media_type)
