"""`/lab`: devices under test, campaigns, and what becomes of their results.

The permission `lab:run` (see `permission`) decides who starts, approves and stops campaigns. AsOperator is its least role.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, StreamingResponse

from wallwatch_backend.incidents.errors import MergedAway
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, TheDatabase, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.lab import approval, errors, present, results, service
from wallwatch_backend.lab.schemas import (
    Attached,
    AttachRequest,
    Campaign,
    CampaignApproval,
    CampaignRejection,
    CampaignsStopped,
    CampaignSummary,
    LabCatalogue,
    LabDevices,
    LabTest,
    NewCampaign,
    ProfileRequest,
    StopRequest,
    WrittenProfile,
)
from wallwatch_backend.lab.states import CampaignState
from wallwatch_backend.remedies.control.errors import Stopped as RemediesStopped
from wallwatch_backend.remedies.orders.errors import SecondPersonNeeded

router = APIRouter(prefix="/lab", tags=["lab"])

CampaignId = Annotated[UUID, Path()]
ONE = problems.responses(*READ_ERRORS, problems.NotFound)


@router.get("/catalogue", operation_id="getLabCatalogue", responses=problems.responses(*READ_ERRORS))
async def get_catalogue(caller: AsViewer) -> LabCatalogue:
    """Return what the lab varies, with safe ranges, and which dimensions confirm which cause."""
    return present.catalogue()


@router.get("/devices", operation_id="listLabDevices", responses=problems.responses(*READ_ERRORS))
async def list_devices(caller: AsViewer, session: Reading, settings: TheSettings) -> LabDevices:
    """List the devices that runners offer. Their commands are settings of the runners; no request can name one."""
    return await service.list_devices(session, settings)


@router.post(
    "/campaigns",
    operation_id="createCampaign",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS,
        problems.NotFound,
        errors.DeviceUnknown,
        errors.DeviceUnusable,
        errors.ParameterUnknown,
        errors.NotCordoned,
        RemediesStopped,
        IdempotencyKeyReused,
    ),
)
async def create_campaign(caller: AsOperator, body: NewCampaign, session: Writing, settings: TheSettings, once: TheOnce) -> Campaign:
    """Queue a campaign. On an RNIC of the fleet it requires a cordon, the role admin, and the approval of a second person."""
    return await once(session, caller, body, Campaign, lambda: service.create(session, settings, caller, body))


@router.get("/campaigns", operation_id="listCampaigns", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_campaigns(
    caller: AsViewer,
    session: Reading,
    device: Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")] = None,
    state: Annotated[CampaignState | None, Query()] = None,
    incident_id: Annotated[UUID | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[CampaignSummary]:
    """List campaigns, newest first."""
    return await service.list_campaigns(session, device=device, state=state, incident_id=incident_id, limit=limit, cursor=cursor)


@router.get("/campaigns/{campaign_id}", operation_id="getCampaign", responses=ONE)
async def get_campaign(caller: AsViewer, campaign_id: CampaignId, session: Reading, settings: TheSettings) -> Campaign:
    """Return a campaign with its progress and, at its end, its report."""
    return await service.get(session, settings, campaign_id)


@router.get(
    "/campaigns/{campaign_id}/tests",
    operation_id="listCampaignTests",
    responses=problems.responses(*READ_ERRORS, problems.NotFound, BadCursor),
)
async def list_tests(
    caller: AsViewer,
    campaign_id: CampaignId,
    session: Reading,
    bad: Annotated[bool, Query(description="Only tests with a symptom")] = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[LabTest]:
    """List the tests and resets of a campaign in their order."""
    return await service.list_tests(session, campaign_id, bad=bad, limit=limit, cursor=cursor)


@router.get(
    "/campaigns/{campaign_id}/report",
    operation_id="downloadCampaignReport",
    response_class=JSONResponse,
    responses={
        200: {"description": "The report as the runner wrote it", "content": {"application/json": {"schema": {"type": "object"}}}},
        **problems.responses(*READ_ERRORS, problems.NotFound, errors.NoReport),
    },
)
async def download_report(caller: AsViewer, campaign_id: CampaignId, session: Reading) -> JSONResponse:
    """Download the report."""
    row = await service.require(session, campaign_id)
    if row.report is None:
        raise errors.NoReport("The campaign has not written a report yet.")
    return JSONResponse(row.report, headers={"Content-Disposition": f'attachment; filename="wallwatch-lab-{campaign_id}.json"'})


@router.get(
    "/campaigns/{campaign_id}/journal",
    operation_id="downloadCampaignJournal",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One JSON object per line: the head, then every test and reset",
            "content": {"application/jsonl": {"schema": {"type": "string"}}},
        },
        **ONE,
    },
)
async def download_journal(caller: AsViewer, campaign_id: CampaignId, session: Reading, database: TheDatabase) -> StreamingResponse:
    """Download the journal; `wallwatch lab report` and `wallwatch lab replay` read it."""
    await service.require(session, campaign_id)
    headers = {"Content-Disposition": f'attachment; filename="wallwatch-lab-{campaign_id}.jsonl"'}
    return StreamingResponse(service.journal_lines(database, campaign_id), media_type="application/jsonl", headers=headers)


@router.post(
    "/campaigns/{campaign_id}/approve",
    operation_id="approveCampaign",
    responses=problems.responses(
        *WRITE_ERRORS, problems.NotFound, errors.NotPending, errors.NotCordoned, SecondPersonNeeded, RemediesStopped
    ),
)
async def approve_campaign(
    caller: AsOperator, campaign_id: CampaignId, session: Writing, settings: TheSettings, body: CampaignApproval | None = None
) -> Campaign:
    """Approve a campaign on an RNIC of the fleet that another person requested; a runner takes it within a second."""
    return await approval.approve(session, settings, caller, campaign_id, body.comment if body is not None else None)


@router.post(
    "/campaigns/{campaign_id}/reject",
    operation_id="rejectCampaign",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.NotPending),
)
async def reject_campaign(
    caller: AsOperator, campaign_id: CampaignId, body: CampaignRejection, session: Writing, settings: TheSettings
) -> Campaign:
    """Reject a campaign that waits for approval, with the reason."""
    return await approval.reject(session, settings, caller, campaign_id, body.reason)


@router.post(
    "/campaigns/{campaign_id}/stop",
    operation_id="stopCampaign",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.CampaignOver),
)
async def stop_campaign(
    caller: AsOperator, campaign_id: CampaignId, body: StopRequest, session: Writing, settings: TheSettings
) -> Campaign:
    """Stop a campaign. A running one stops within about a second and keeps what it has found."""
    return await service.stop(session, settings, caller, campaign_id, body.reason)


@router.post("/stop", operation_id="stopAllCampaigns", responses=problems.responses(*WRITE_ERRORS))
async def stop_all(caller: AsOperator, body: StopRequest, session: Writing) -> CampaignsStopped:
    """Emergency stop: stop every campaign."""
    return await service.stop_all(session, caller, body.reason)


@router.post(
    "/campaigns/{campaign_id}/attach",
    operation_id="attachCampaign",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS, problems.NotFound, problems.InvalidInput, errors.NoReport, MergedAway, IdempotencyKeyReused
    ),
)
async def attach(caller: AsOperator, campaign_id: CampaignId, body: AttachRequest, session: Writing, once: TheOnce) -> Attached:
    """Add what was found to the timeline of an incident."""
    return await once(session, caller, body, Attached, lambda: results.attach(session, caller, campaign_id, body))


@router.post(
    "/campaigns/{campaign_id}/profile",
    operation_id="writeCampaignProfile",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS, problems.NotFound, problems.InvalidInput, errors.NoReport, errors.NothingMeasured, IdempotencyKeyReused
    ),
)
async def write_profile(
    caller: AsOperator, campaign_id: CampaignId, body: ProfileRequest, session: Writing, once: TheOnce
) -> WrittenProfile:
    """Store the measured limits as a candidate version of a profile. Nothing uses it before an operator promotes it."""
    return await once(session, caller, body, WrittenProfile, lambda: results.write_profile(session, caller, campaign_id, body))
