"""`/isolation/report`: how well promises were kept in a month."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from wallwatch_backend.isolation.reports import export, service
from wallwatch_backend.isolation.reports.schemas import SloReport
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(prefix="/isolation", tags=["isolation"])


@router.get(
    "/report",
    operation_id="getSloReport",
    response_model=SloReport,
    responses={
        200: {"description": "The report; CSV has one line per row", "content": {"text/csv": {"schema": {"type": "string"}}}},
        **problems.responses(*READ_ERRORS, problems.InvalidInput),
    },
)
async def get_report(
    caller: AsViewer,
    session: Reading,
    month: Annotated[str | None, Query(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$", description="YYYY-MM, UTC; default: this month")] = None,
    by: Literal["vf", "tenant"] = "vf",
    format: Literal["json", "csv"] = "json",
    objective: Annotated[float, Query(gt=0, lt=1, description="Share of seconds to be kept")] = 0.999,
) -> SloReport | Response:
    """Return kept, broken and unknown seconds of a month with the error budget."""
    report = await service.report(session, month, by, objective)
    return export.csv_response(report) if format == "csv" else report
