"""A found cause as a candidate rule of detection: a person reviews it, and the job `classify` detects it from its next start on."""

from wallwatch.domain.catalogue.rule_of_cause import Candidate, Condition, Found, NoRule, rule_of, share_interval
from wallwatch_backend.lab.schemas_report import FoundCause, LabAgreement, LabReport


def draft(cause: FoundCause, report: LabReport, model: str | None) -> Candidate:
    """The rule that finds RNICs in the state of a cause.

    Raises
    ------
    NoRule
        When the catalogue has the cause, or no signal shows any of its thresholds.

    Examples
    --------
    >>> from wallwatch_backend.lab.schemas_report import LabCondition, LabThreshold
    >>> masks = LabCondition(parameter="masks_egress", op=">=", value=24, text="masks_egress is at least 24")
    >>> limit = LabThreshold(parameter="masks_egress", last_good=23, first_bad=24)
    >>> cause = FoundCause(id=1, symptom="S6", conditions=[masks], thresholds=[limit])
    >>> draft(cause, LabReport(device="lab card", tests=180), "CX-6").rule["definition"]["conditions"][0]["why"]
    'Measured on lab card: last good 23, first bad 24. Cleared 10% away from the last good value.'
    """
    if cause.recognised is not None:
        raise NoRule(f"The catalogue has this cause already: {cause.recognised.cause}, {cause.recognised.label}.")
    good = {limit.parameter: limit.last_good for limit in cause.thresholds}
    conditions = [
        Condition(each.parameter, each.op, each.value, good.get(each.parameter), each.text, each.moved_by) for each in cause.conditions
    ]
    return rule_of(Found(cause.symptom, cause.metric, conditions, report.device, model, evidence(cause, report)))


def evidence(cause: FoundCause, report: LabReport) -> str:
    """On which evidence, as sentences.

    >>> evidence(FoundCause(id=1, proven=False), LabReport(tests=1200))
    'Found in 1,200 tests. Not proven: other parameters may move the threshold.'
    """
    text = f"Found in {report.tests:,} tests."
    if cause.verification is not None:
        text += _predictions(cause.verification.inside, "where the cause holds", "fail")
        text += _predictions(cause.verification.outside, "with one condition broken", "pass")
    return text if cause.proven else f"{text} Not proven: other parameters may move the threshold."


def _predictions(agreement: LabAgreement, where: str, do: str) -> str:
    if agreement.of == 0:
        return ""
    low, high = share_interval(agreement.agree, agreement.of)
    return f" Of {agreement.of} new configurations {where}, {agreement.agree} {do} (95% interval of the share: {low:.0%} to {high:.0%})."
