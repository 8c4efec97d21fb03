"""The catalogue's remedies as the API shows them, and the check of their parameters."""

from functools import cache
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.remedy_models import Check
from wallwatch.domain.catalogue.remedy_models import RemedyAction as CatalogueAction
from wallwatch_backend.remedies.orders.errors import BadParameter, UnknownAction
from wallwatch_backend.remedies.orders.schemas import CheckInfo, CureInfo, DisturbanceInfo, ParamInfo, RemedyAction
from wallwatch_backend.settings import Settings

RISKS = ("low", "medium", "high")
MASK_PLAN = "apply-mask-plan"


def needs_approval(action: CatalogueAction, settings: Settings) -> bool:
    """Whether a second person must approve the action in this installation.

    >>> needs_approval(load.remedies()["tune-revalidator"], Settings(remedy_approval_risk="high"))
    False
    """
    least = settings.remedy_approval_risk
    return least != "never" and RISKS.index(action.risk) >= RISKS.index(least)


def all_actions(settings: Settings) -> list[RemedyAction]:
    return [each.model_copy(update={"needs_approval": needs_approval(load.remedies()[each.action], settings)}) for each in _all_infos()]


@cache
def _all_infos() -> list[RemedyAction]:
    return [_info(action) for action in load.remedies().values()]


def _symptoms_of(action_id: str) -> list[str]:
    defined = (s for s in load.symptoms().values() if s.definition is not None)
    by_definition = [s.id for s in defined if s.definition is not None and any(r.action == action_id for r in s.definition.remedies)]
    # A condition without a definition of thresholds suggests its remedies itself: `isolation`.
    return by_definition + [name for name in load.other_conditions() if name in load.remedies()[action_id].cures]


def _info(action: CatalogueAction) -> RemedyAction:
    return RemedyAction(
        action=action.id,
        title=action.title,
        description=action.summary,
        scope=action.scope,
        params=[
            ParamInfo(
                name=name,
                label=p.label,
                type=p.type,
                unit=None if p.unit == "none" else p.unit,
                minimum=p.minimum,
                maximum=p.maximum,
                max_length=p.max_length,
                pattern=p.pattern,
                required=p.required,
                meaning=p.meaning,
            )
            for name, p in action.params.items()
        ],
        at_least_one=list(action.require_any_of),
        risk=action.risk,
        risk_text=action.risk_text,
        needs_approval=False,
        undo=action.undo,
        reversible=action.reversible,
        operations=action.operations,
        privileges=action.privileges,
        change=CheckInfo.model_validate(_check(action, action.change)),
        cures=[CureInfo.model_validate({**_check(action, check), "symptom": symptom}) for symptom, check in action.cures.items()],
        symptoms=_symptoms_of(action.id),
        disturbs=None if action.disturbs is None else DisturbanceInfo.model_validate(action.disturbs.model_dump()),
    )


def _check(action: CatalogueAction, check: Check) -> dict[str, Any]:
    """A check before parameters are given: a parameter is shown by its label."""
    label, unit = signal_label(check)
    return {
        "signal": check.signal,
        "label": label,
        "unit": unit,
        "expected": check.expected_with({name: p.label for name, p in action.params.items()}),
        "within_s": check.within_s,
        "for_s": check.for_s,
        "text": check.text,
    }


def signal_label(check: Check) -> tuple[str, str]:
    """Return label and unit of the signal of a check; a signal without a label is shown by its name."""
    return (check.label, check.unit) if check.label else load.known_signals().get(check.signal, (check.signal, "none"))


def action_of(action_id: str) -> CatalogueAction:
    """Return the catalogue's entry, or raise `UnknownAction`."""
    action = load.remedies().get(action_id)
    if action is None:
        raise unknown(action_id)
    return action


def unknown(action_id: str) -> UnknownAction:
    return UnknownAction(f"Unknown remedy {action_id!r} (expected one of {', '.join(load.remedies())}).")


def checked_params(action: CatalogueAction, pci: str | None, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters to sign and send, or raise `BadParameter`.

    An action on an RNIC gets the request's PCI address as its parameter, so that the two cannot differ.
    """
    if action.scope == "rnic":
        if pci is None:
            raise BadParameter("pci: required; this remedy is for one RNIC")
        if params.get("pci", pci) != pci:
            raise BadParameter("params.pci: must equal `pci`")
        params = {**params, "pci": pci}
    if action.id == MASK_PLAN and "operations_sha256" not in params:
        raise BadParameter(
            "params.plan: a mask plan is for one RNIC and its current flows, so it cannot be rolled out; "
            "create it with POST /api/v1/plans, where `then` may request its remedy, or use an automation rule"
        )
    problems = action.problems(params)
    if problems:
        raise BadParameter("; ".join(f"params.{name}: {problem}" for name, problem in sorted(problems.items())))
    for name, value in params.items():
        if isinstance(value, str) and ("\0" in value or not value.isprintable()):
            raise BadParameter(f"params.{name}: must be printable text")
    return params
