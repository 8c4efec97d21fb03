"""Turns rows of the lab into what the API shows."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from wallwatch.domain.catalogue import lab, load
from wallwatch.domain.catalogue.local_rules import dump
from wallwatch.domain.catalogue.models import AnotherRule
from wallwatch.domain.catalogue.rule_of_cause import NoRule
from wallwatch.store.lab import LOST_S
from wallwatch_backend.kit import clock
from wallwatch_backend.lab import cause_policy, cause_rule, permission, tickets, words
from wallwatch_backend.lab.models import CampaignRow, DeviceRow, TestRow
from wallwatch_backend.lab.schemas import (
    Campaign,
    CampaignEventData,
    CampaignOptions,
    CampaignSummary,
    CauseDimensionsInfo,
    DimensionInfo,
    LabCatalogue,
    LabDevice,
    LabMetric,
    LabParameter,
    LabProgress,
    LabTest,
    SafeRangeInfo,
)
from wallwatch_backend.lab.schemas_report import FoundCause, LabRecognised, LabReport
from wallwatch_backend.lab.space import brute_force_tests
from wallwatch_backend.lab.states import CampaignState
from wallwatch_backend.settings import Settings

OFFERED_WITHIN = timedelta(seconds=60)
"""A runner says every ten seconds which devices it offers."""


def catalogue() -> LabCatalogue:
    return LabCatalogue(
        dimensions=[
            DimensionInfo(
                id=d.id,
                label=d.label,
                component=d.component,
                unit=d.unit,
                kind=d.kind,
                safe=None if d.safe is None else SafeRangeInfo(low=d.safe.low, high=d.safe.high),
                adaptors=list(d.adaptors),
                why=d.why,
            )
            for d in lab.dimensions().values()
        ],
        causes=[CauseDimensionsInfo(cause=c.id, dimensions=list(c.all)) for c in lab.cause_dimensions().values()],
    )


def _parameter(described: Mapping[str, Any]) -> LabParameter:
    name = str(described["name"])
    return LabParameter(
        name=name,
        kind=str(described.get("kind", "choice")),
        component=str(described.get("component") or ""),
        unit=str(described.get("unit") or ""),
        low=described.get("min"),
        high=described.get("max"),
        values=list(described.get("values") or ()),
        dimension=lab.dimension_of(name),
        causes=[cause for cause in lab.cause_dimensions() if lab.parameters_for(cause, [name])],
    )


def _metric(described: Mapping[str, Any]) -> LabMetric:
    return LabMetric(name=described["name"], unit=described.get("unit") or "", better=described.get("better") or "higher")


def device(row: DeviceRow, settings: Settings) -> LabDevice:
    known = row.description or {}
    parameters = known.get("parameters") or []
    offered = row.seen_at >= clock.now() - OFFERED_WITHIN
    problem = (
        row.problem if offered else "No runner has offered it for a minute. Start `wallwatch job lab` with it in WALLWATCH_LAB_DEVICES."
    )
    return LabDevice(
        name=row.name,
        description=str(known.get("description") or ""),
        model=row.model,
        host=row.host,
        pci=row.pci,
        available=problem is None and row.description is not None,
        problem=problem,
        seen_at=row.seen_at,
        parameters=[_parameter(each) for each in parameters],
        metrics=[
            LabMetric(name=m["name"], unit=m.get("unit") or "", better=m.get("better") or "higher") for m in known.get("metrics") or []
        ],
        symptoms=list(known.get("symptoms") or ()),
        has_topology=known.get("topology") is not None,
        sequential=bool(known.get("sequential")),
        seconds_per_test=known.get("seconds_per_test"),
        run_role=permission.role_for(settings, row),
        needs_approval=permission.needs_approval(settings, row),
        brute_force_tests=str(brute_force_tests(parameters)),
    )


def _varied(row: CampaignRow, of: DeviceRow | None) -> list[Mapping[str, Any]]:
    """Descriptions of the parameters that a campaign was asked to vary; none while the device has not described itself."""
    chosen = CampaignOptions.model_validate(row.options).parameters
    described = ((of.description if of is not None else None) or {}).get("parameters") or []
    return [each for each in described if chosen is None or each["name"] in chosen]


def units_of(row: DeviceRow | None) -> dict[str, str]:
    """Parameter → unit."""
    described = (row.description or {}).get("parameters") or [] if row is not None else []
    return {str(each["name"]): str(each.get("unit") or "") for each in described}


def report_of(row: CampaignRow, of: DeviceRow | None) -> tuple[LabReport | None, str | None]:
    """The report with its causes in words, or why it cannot be shown."""
    if row.report is None:
        return None, None
    try:
        report = LabReport.model_validate(row.report)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return None, f"The report cannot be read: {where}: {first['msg']}. The journal has every test; run `wallwatch lab report` on it."
    if "varied" not in row.report:  # of an earlier version, which counted parameters that kept their defaults
        report.varied = [str(each["name"]) for each in _varied(row, of)]
        report.strength = min(report.strength, len(report.varied)) if report.varied else report.strength
    units = units_of(of)
    for cause in report.causes:
        for condition in cause.conditions:
            condition.text = words.condition_text(condition, units)
        for limit in cause.thresholds:
            limit.unit = units.get(limit.parameter or "", "")
        named = [name for one in cause.conditions for name in (one.parameter, *one.moved_by)]
        cause.recognised = cause.recognised or _recognised(cause.symptom, named)
        cause.text = words.cause_text(cause, units)
        cause.policy, cause.no_policy = cause_policy.draft(cause)
        cause.rule, cause.no_rule = _rule(cause, report, None if of is None else of.model)
        cause.reproducer = words.reproducer(cause, report, units)
    return report, None


def _rule(cause: FoundCause, report: LabReport, model: str | None) -> tuple[str | None, str | None]:
    try:
        return dump([AnotherRule.model_validate(cause_rule.draft(cause, report, model).rule)]), None
    except NoRule as why:
        return None, str(why)


def _recognised(symptom: str | None, parameters: Iterable[str | None]) -> LabRecognised | None:
    named = list(parameters)
    if None in named:
        return None
    cause = lab.recognised(symptom, [name for name in named if name is not None])
    return None if cause is None else LabRecognised(cause=cause, label=load.causes()[cause].title)


def _progress(row: CampaignRow, options: CampaignOptions, now: datetime) -> LabProgress:
    stored = row.progress or {}
    tests, seconds = int(stored.get("tests") or 0), float(stored.get("seconds") or 0.0)
    left: float | None = None
    if row.state == CampaignState.running and row.started_at is not None:
        left = max(0.0, options.max_time_s - (now - row.started_at).total_seconds())
        if tests:
            left = min(left, max(0, options.budget - tests) * seconds / tests)
    return LabProgress.model_validate(
        {**{k: v for k, v in stored.items() if k in LabProgress.model_fields}, "tests": tests, "most_seconds_left": left}
    )


def _brute_force(row: CampaignRow, of: DeviceRow | None, report: LabReport | None) -> str | None:
    if report is not None and report.brute_force is not None and "varied" in (row.report or {}):
        return report.brute_force.tests
    varied = _varied(row, of)
    return str(brute_force_tests(varied)) if varied else None


def _summary(row: CampaignRow, of: DeviceRow | None, report: LabReport | None) -> dict[str, Any]:
    now = clock.now()
    options = CampaignOptions.model_validate(row.options)
    running = row.state == CampaignState.running
    return {
        **{
            name: getattr(row, name)
            for name in (
                "id", "device", "state", "requested_by", "decided_by", "decided_at", "decision_comment", "created_at", "updated_at",
                "started_at", "ended_at", "incident_id", "message",
            )
        },
        "options": options,
        "stopping": running and row.stop_requested_at is not None,
        "silent": running and (row.heartbeat_at is None or row.heartbeat_at < now - timedelta(seconds=LOST_S)),
        "progress": _progress(row, options, now),
        "brute_force_tests": _brute_force(row, of, report),
        "causes": None if report is None else len(report.causes),
        "complete": None if report is None else report.complete,
    }  # fmt: skip


def summary(row: CampaignRow, of: DeviceRow | None) -> CampaignSummary:
    report, _ = report_of(row, of)
    return CampaignSummary.model_validate(_summary(row, of, report))


def whole(row: CampaignRow, of: DeviceRow | None, ticket_url: str | None) -> Campaign:
    """A campaign with its report; `ticket_url` is the setting of this name."""
    report, problem = report_of(row, of)
    if report is not None and ticket_url is not None:
        for cause in report.causes:
            cause.ticket_url = tickets.address(ticket_url, tickets.title(cause, report), cause.reproducer)
    return Campaign.model_validate({**_summary(row, of, report), "runner": row.runner, "report": report, "report_problem": problem})


def test(row: TestRow) -> LabTest:
    entry = row.entry
    metrics = {name: value for name, value in (entry.get("metrics") or {}).items() if isinstance(value, int | float)}
    return LabTest(
        line=row.line,
        kind=entry.get("kind", "test"),
        n=int(entry.get("n") or 0),
        phase=entry.get("phase"),
        status=entry.get("status") or "ok",
        attempt=int(entry.get("attempt") or 1),
        config=entry.get("config") or {},
        symptoms=list(entry.get("symptoms") or ()),
        metrics=metrics,
        reason=entry.get("reason"),
        seconds=entry.get("seconds"),
    )


def event_data(row: CampaignRow, of: DeviceRow | None) -> CampaignEventData:
    report, _ = report_of(row, of)
    shown = _summary(row, of, report)
    causes = [] if report is None else report.causes
    return CampaignEventData.model_validate(
        {
            **{name: shown[name] for name in CampaignEventData.model_fields if name in shown and name != "causes"},
            "tests": shown["progress"].tests if report is None else report.tests,
            "causes": [
                {
                    "symptom": cause.symptom,
                    "metric": cause.metric,
                    "text": cause.text,
                    "confidence": cause.confidence,
                    "recognised": None if cause.recognised is None else cause.recognised.cause,
                }
                for cause in causes
            ],
        }
    )
