"""`/isolation/slo-classes` and `/isolation/slo-rules`."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from wallwatch_backend.isolation.slo import service
from wallwatch_backend.isolation.slo.errors import ClassExists, ClassInUse, MinimaExceedLink, UnknownClass
from wallwatch_backend.isolation.slo.schemas import ClassName, NewSloClass, SloClass, SloPreview, SloRules, SloValues, StoredSloRules
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.etags import IfMatch, VersionMismatch, etag

router = APIRouter(prefix="/isolation", tags=["isolation"])

Name = Annotated[ClassName, Path(description="Name of the class")]


@router.get("/slo-classes", operation_id="listSloClasses", responses=problems.responses(*READ_ERRORS))
async def list_classes(caller: AsViewer, session: Reading) -> list[SloClass]:
    """List the SLO classes by name."""
    return await service.list_classes(session)


@router.post("/slo-classes", operation_id="createSloClass", status_code=201, responses=problems.responses(*WRITE_ERRORS, ClassExists))
async def create_class(caller: AsOperator, body: NewSloClass, session: Writing, response: Response) -> SloClass:
    """Create an SLO class; it takes effect when a rule or a CNI configuration names it."""
    created = await service.create_class(session, caller, body)
    response.headers["ETag"] = etag(created.version)
    return created


@router.put(
    "/slo-classes/{name}",
    operation_id="updateSloClass",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, VersionMismatch, MinimaExceedLink),
)
async def update_class(
    caller: AsOperator, name: Name, body: SloValues, session: Writing, response: Response, if_match: IfMatch = None
) -> SloClass:
    """Replace the values of an SLO class; refused where minima would exceed a link."""
    changed = await service.update_class(session, caller, name, body, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.delete(
    "/slo-classes/{name}",
    operation_id="deleteSloClass",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, VersionMismatch, ClassInUse),
)
async def delete_class(caller: AsOperator, name: Name, session: Writing, if_match: IfMatch = None) -> None:
    """Delete an SLO class that no rule assigns."""
    await service.delete_class(session, caller, name, if_match)


@router.get("/slo-rules", operation_id="getSloRules", responses=problems.responses(*READ_ERRORS))
async def get_rules(caller: AsViewer, session: Reading, response: Response) -> StoredSloRules:
    """Return the ordered rules; the ETag is their version."""
    rules = await service.get_rules(session)
    response.headers["ETag"] = etag(rules.version)
    return rules


@router.put(
    "/slo-rules",
    operation_id="replaceSloRules",
    responses=problems.responses(*WRITE_ERRORS, VersionMismatch, MinimaExceedLink, UnknownClass),
)
async def replace_rules(
    caller: AsOperator, body: SloRules, session: Writing, response: Response, if_match: IfMatch = None
) -> StoredSloRules:
    """Replace all rules; refused where minima would exceed a link."""
    rules = await service.replace_rules(session, caller, body, if_match)
    response.headers["ETag"] = etag(rules.version)
    return rules


@router.post("/slo-rules/preview", operation_id="previewSloRules", responses=problems.responses(*WRITE_ERRORS, UnknownClass))
async def preview_rules(
    caller: AsOperator,
    body: SloRules,
    session: Reading,
    offset: Annotated[int, Query(ge=0, le=1_000_000, description="VFs to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000, description="VFs to return")] = 1_000,
) -> SloPreview:
    """Return which VF would get which promise, without changing the rules."""
    return await service.preview(session, body, offset, limit)
