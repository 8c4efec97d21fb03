"""`/rnics`: the list, one RNIC, its series, masks and findings."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from wallwatch_backend.fleet.rnics import series as series_service
from wallwatch_backend.fleet.rnics import service
from wallwatch_backend.fleet.rnics import signals as signals_service
from wallwatch_backend.fleet.rnics.schemas import FindingInterval, MaskChains, Rnic, RnicSummary, Series, SignalSeries
from wallwatch_backend.incidents.context.schemas import Changes
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import HostName, Line, PciAddress, SymptomName
from wallwatch_backend.kit.times import Moment

router = APIRouter(prefix="/rnics", tags=["rnics"])

Host = Annotated[HostName, Path(description="Host name")]
Pci = Annotated[PciAddress, Path(description="PCI address of the physical function, such as 0000:3b:00.0")]
From = Annotated[Moment | None, Query(alias="from", description="Default: one hour before `to`")]
To = Annotated[Moment | None, Query(alias="to", description="Default: now")]
ONE = problems.responses(*READ_ERRORS, problems.NotFound, problems.InvalidInput)


@router.get("", operation_id="listRnics", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_rnics(
    caller: AsViewer,
    session: Reading,
    host: Annotated[HostName | None, Query()] = None,
    rack: Annotated[Line | None, Query()] = None,
    model: Annotated[Line | None, Query()] = None,
    symptom: SymptomName | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[RnicSummary]:
    """List RNICs by host and PCI address."""
    return await service.list_rnics(session, host=host, rack=rack, model=model, symptom=symptom, limit=limit, cursor=cursor)


@router.get("/{host}/{pci}", operation_id="getRnic", responses=ONE)
async def get_rnic(caller: AsViewer, host: Host, pci: Pci, session: Reading, settings: TheSettings) -> Rnic:
    """Return one RNIC with its walls and active symptoms."""
    return await service.get_rnic(session, host, pci, settings.sampling_interval_s)


@router.get("/{host}/{pci}/series", operation_id="getRnicSeries", responses=ONE)
async def get_series(
    caller: AsViewer,
    host: Host,
    pci: Pci,
    session: Reading,
    fields: Annotated[str, Query(max_length=1000, description="Field names of the catalogue, separated by commas, at most 20")],
    since: From = None,
    until: To = None,
    step_s: Annotated[int | None, Query(ge=1, le=86400, description="Default: at most 300 steps")] = None,
) -> Series:
    """Return fields over time in equal steps, null where nothing was measured."""
    return await series_service.get_series(session, host, pci, fields, since, until, step_s)


@router.get("/{host}/{pci}/signals", operation_id="getRnicSignals", responses=ONE)
async def get_signals(
    caller: AsViewer,
    host: Host,
    pci: Pci,
    session: Reading,
    symptom: Annotated[SymptomName, Query(description="The signals of its conditions are returned")],
    since: From = None,
    until: To = None,
) -> SignalSeries:
    """Return what a symptom's rules compare with their bounds, over time: each signal over its window.

    The values are derived from the stored samples by the code that raises symptoms. At most three hours; a longer interval is cut at its
    end, and `to` says until when the values reach. A signal that compares with the RNIC's own past may differ from what was judged, because
    only half an hour before `from` is read.
    """
    return await signals_service.get_signals(session, host, pci, symptom, since, until)


@router.get("/{host}/{pci}/masks", operation_id="getRnicMasks", responses=ONE)
async def get_masks(caller: AsViewer, host: Host, pci: Pci, session: Reading) -> MaskChains:
    """Return the newest mask chain of each direction in lookup order."""
    return await service.get_masks(session, host, pci)


@router.get("/{host}/{pci}/findings", operation_id="listRnicFindings", responses=ONE)
async def list_findings(
    caller: AsViewer, host: Host, pci: Pci, session: Reading, since: From = None, until: To = None
) -> list[FindingInterval]:
    """Return when each symptom was present in the interval."""
    return await service.list_findings(session, host, pci, since, until)


@router.get("/{host}/{pci}/changes", operation_id="listRnicChanges", responses=ONE)
async def list_changes(caller: AsViewer, host: Host, pci: Pci, session: Reading, since: From = None, until: To = None) -> Changes:
    """Return what changed on the RNIC and its host: containers, settings, firmware, remedies, incidents and other events."""
    return await service.list_changes(session, host, pci, since, until)
