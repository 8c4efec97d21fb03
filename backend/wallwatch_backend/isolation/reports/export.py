"""The report as CSV."""

from fastapi import Response

from wallwatch_backend.isolation.reports.schemas import SloReport


def csv_response(report: SloReport) -> Response:
    raise NotImplementedError
