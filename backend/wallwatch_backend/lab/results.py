"""What a report becomes: a note in an incident, and a version of a profile."""

from uuid import UUID

from wallwatch.domain.calibration.result import Calibration
from wallwatch.domain.catalogue import lab
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.fleet.profiles import measured
from wallwatch_backend.incidents import service as incidents
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import InvalidInput, NotFound
from wallwatch_backend.lab import present, repository, service, words
from wallwatch_backend.lab.errors import NoReport, NothingMeasured
from wallwatch_backend.lab.models import CampaignRow, DeviceRow
from wallwatch_backend.lab.schemas import Attached, AttachRequest, ProfileRequest, WrittenProfile
from wallwatch_backend.lab.schemas_report import FoundCause, LabReport


async def result_of(session: ReadSession, campaign_id: UUID) -> tuple[CampaignRow, DeviceRow | None, LabReport]:
    """A campaign, its device and its report; `NoReport` where it has none that can be read."""
    row = await service.require(session, campaign_id)
    device = await repository.device(session, row.device)
    report, problem = present.report_of(row, device)
    if report is None:
        raise NoReport(problem or "The campaign has not written a report yet.")
    return row, device, report


def _chosen(report: LabReport, ids: list[int]) -> list[FoundCause]:
    unknown = sorted(set(ids) - {cause.id for cause in report.causes})
    if unknown:
        raise NotFound(f"The report has no cause {unknown[0]}.")
    return words.chosen(report, ids)


async def attach(session: WriteSession, caller: Caller, campaign_id: UUID, body: AttachRequest) -> Attached:
    """Add what was found to an incident's timeline."""
    row, _, report = await result_of(session, campaign_id)
    incident_id = body.incident_id or row.incident_id
    if incident_id is None:
        raise InvalidInput("The campaign was not started for an incident: name one in incident_id.")
    await incidents.require(session, incident_id)
    text = finding_text(row.device, report, _chosen(report, body.causes))
    await incidents.note(session, incident_id, "lab", caller.actor, text, campaign_id=str(row.id))
    audit.record(
        session, caller.actor, "lab.attach", row.device, address=caller.address, campaign_id=str(row.id), incident_id=str(incident_id)
    )
    return Attached(incident_id=incident_id, text=text)


def finding_text(device: str, report: LabReport, causes: list[FoundCause]) -> str:
    """What a campaign found, as an entry of a timeline."""
    if not causes:
        return f"The lab found nothing wrong with {device} in {report.tests:,} tests ({_covered(report)})."
    found = " ".join(
        f"{cause.text[:-1]} ({f'this is {cause.recognised.cause}, ' if cause.recognised else ''}confidence {cause.confidence:.0%})."
        for cause in causes
    )
    unfinished = "" if report.complete else " The campaign is incomplete: there may be more."
    return f"The lab tested {device} {report.tests:,} times: {found}{unfinished}"


def _covered(report: LabReport) -> str:
    """What of the parameters that varied was tested."""
    strength, varied = report.strength, len(report.varied)
    if strength == 0:
        return "the tests that it had time for"
    if varied == 1:
        return f"only {report.varied[0]} varied"
    return f"every combination of any {strength} of the {varied} varied parameters" if strength < varied else "every combination"


def limits_of(causes: list[FoundCause]) -> dict[str, float]:
    """Wall → the last good value of the lowest threshold that was found for it.

    A threshold counts only where the cause has no other condition: one that holds in a corner is no limit of the RNIC.
    """
    limits: dict[str, float] = {}
    for cause in causes:
        if len(cause.conditions) != 1 or cause.conditions[0].op != ">=":
            continue
        for threshold in cause.thresholds:
            dimension = lab.dimension_of(threshold.parameter or "")
            if dimension is None or threshold.parameter != cause.conditions[0].parameter or threshold.last_good <= 0:
                continue
            for wall in lab.dimensions()[dimension].walls_of(threshold.parameter or ""):
                limits[wall] = min(threshold.last_good, limits.get(wall, threshold.last_good))
    return limits


async def write_profile(session: WriteSession, caller: Caller, campaign_id: UUID, body: ProfileRequest) -> WrittenProfile:
    """Store the measured limits as a candidate version of a model's profile."""
    row, device, report = await result_of(session, campaign_id)
    model = body.model or (device.model if device is not None else None)
    if model is None:
        raise InvalidInput("The device has no RNIC model in WALLWATCH_LAB_DEVICES: name one in model.")
    limits = limits_of(_chosen(report, body.causes))
    if not limits:
        raise NothingMeasured("No cause has a threshold on a single parameter that is a wall of the profile.")
    calibration = Calibration(
        profile=model,
        profile_chosen="given",
        verb="write",
        accepted=True,
        reasons=[f"Limits measured by campaign {row.id} of the lab on {row.device}; the parameters are those in force."],
        bandwidth=None,
        latency=None,
        other_fits=[],
        candidate=None,
        assumptions=[],
        notes=[f"{cause.text}{'' if cause.proven else ' Not proven.'}" for cause in _chosen(report, body.causes)],
        problems=[],
        files=[],
    )
    version = await measured.add_limits(session, caller, model, limits, calibration, f"Lab campaign {row.id}, {report.tests:,} tests")
    audit.record(session, caller.actor, "lab.write_profile", model, address=caller.address, campaign_id=str(row.id), version=version.number)
    return WrittenProfile(model=model, number=version.number, limits=limits)
