"""Rows as the API shows them."""

from datetime import timedelta

from wallwatch.domain.catalogue.transport import TransportFigures
from wallwatch_backend.captures.models import CaptureRow, SeriesRow
from wallwatch_backend.captures.schemas import (
    Capture,
    CaptureAnalysis,
    CaptureDetail,
    CaptureOptions,
    CaptureSeries,
    CaptureSummary,
    ModelFigures,
    SeriesLabel,
)
from wallwatch_backend.captures.states import CaptureState


def capture(row: CaptureRow, kept: timedelta) -> Capture:
    return Capture(
        id=row.id,
        name=row.name,
        size_bytes=row.size_bytes,
        sha256=row.sha256,
        state=CaptureState(row.state),
        progress=row.progress,
        problem=row.problem,
        uploaded_by=row.uploaded_by,
        created_at=row.created_at,
        ended_at=row.ended_at,
        expires_at=row.created_at + kept,
        options=CaptureOptions.model_validate(row.options),
        summary=CaptureSummary.model_validate(row.summary) if row.summary else None,
    )


def detail(row: CaptureRow, series: list[SeriesLabel], kept: timedelta) -> CaptureDetail:
    analysis = CaptureAnalysis.model_validate(row.result) if row.result else None
    return CaptureDetail(**capture(row, kept).model_dump(), analysis=analysis, series=series)


def label(row: SeriesRow) -> SeriesLabel:
    return SeriesLabel.model_validate({**row.label, "place": row.place})


def series(row: SeriesRow) -> CaptureSeries:
    return CaptureSeries.model_validate({**row.label, **row.body, "place": row.place})


def figures(model: TransportFigures) -> ModelFigures:
    return ModelFigures.model_validate(model.model_dump())


def sentence(name: str, summary: CaptureSummary) -> str:
    """What an incident's timeline says about a capture.

    >>> sentence("a.pcap", CaptureSummary(frames=10, roce=9, rc_qps=2, retransmissions=1, timeouts=0, violations=0, bad_icrc_frames=0,
    ...     conforms=True, truncated=False))
    'Capture a.pcap: 9 RoCE packets of 2 queue pairs, 1 retransmission (0 by timeout), conforms to go-back-N.'
    """
    resent = f"{summary.retransmissions:,} retransmission{'' if summary.retransmissions == 1 else 's'} ({summary.timeouts:,} by timeout)"
    verdict = "conforms to go-back-N" if summary.conforms else f"{summary.violations:,} violation{'' if summary.violations == 1 else 's'}"
    wrong = f", {summary.bad_icrc_frames:,} frames with a wrong ICRC" if summary.bad_icrc_frames else ""
    return f"Capture {name}: {summary.roce:,} RoCE packets of {summary.rc_qps:,} queue pairs, {resent}, {verdict}{wrong}."
