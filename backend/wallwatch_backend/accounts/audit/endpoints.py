"""`/audit`: who did what, for administrators."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.accounts.audit import service
from wallwatch_backend.accounts.audit.schemas import AuditEvent, AuditHead
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.text import Line
from wallwatch_backend.kit.times import Moment

router = APIRouter(prefix="/audit", tags=["audit"])


@router.get("", operation_id="listAudit", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_audit(
    caller: AsAdmin,
    session: Reading,
    actor: Annotated[Line | None, Query()] = None,
    action: Annotated[Line | None, Query(description="An action, or its beginning, such as `remedy.`")] = None,
    since: Annotated[Moment | None, Query(alias="from")] = None,
    until: Annotated[Moment | None, Query(alias="to")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[AuditEvent]:
    """List the recorded actions, newest first."""
    return await service.list_events(session, actor=actor, action=action, since=since, until=until, limit=limit, cursor=cursor)


@router.get("/head", operation_id="getAuditHead", responses=problems.responses(*READ_ERRORS))
async def get_head(caller: AsAdmin, session: Reading) -> AuditHead:
    """Return the end of the log's chain of hashes, to be kept elsewhere as an anchor for `wallwatch audit verify`."""
    return await service.head(session)
