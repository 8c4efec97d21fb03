"""The report as CSV."""

import csv
import io

from fastapi import Response

from wallwatch_backend.isolation.reports.schemas import ReportRow, SloReport
from wallwatch_backend.kit.cells import cell

COLUMNS = tuple(ReportRow.model_fields)


def csv_response(report: SloReport) -> Response:
    """One line per row, as a download."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(("month", "objective", *COLUMNS))
    for row in report.rows:
        lines.writerow((report.month, report.objective, *(cell(value) for value in row.model_dump().values())))
    name = f"wallwatch-slo-{report.month}-by-{report.by}.csv"
    return Response(text.getvalue(), media_type="text/csv", headers={"Content-Disposition": f'attachment; filename="{name}"'})
