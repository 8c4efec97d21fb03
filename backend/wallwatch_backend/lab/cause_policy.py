"""A found cause as the draft of a policy; an operator edits and enables it in the editor of policies."""

import re

from wallwatch.domain.policies.of_cause import Condition, NoPolicy, policy_of
from wallwatch_backend.lab.schemas_report import FoundCause
from wallwatch_backend.policies.formulas.schemas import Definition

_SYMPTOM, _CAUSE = re.compile(r"S[1-8]"), re.compile(r"C[1-8]")


def draft(cause: FoundCause) -> tuple[Definition | None, str | None]:
    """The definition of a policy that forbids the cause, or why there is none.

    >>> from wallwatch_backend.lab.schemas_report import LabCondition
    >>> order = LabCondition(parameter="teardown", op="before", value=["release_vfs", "stop_traffic"])
    >>> found, _ = draft(FoundCause(id=1, symptom="S7", conditions=[order]))
    >>> found.title, found.symptoms
    ('On a virtual function, "stop traffic" comes before "release VFs"', ['S7'])
    >>> draft(FoundCause(id=1, conditions=[LabCondition(parameter="colour", op="==", value="red")]))
    (None, 'No event on a host shows colour, so no policy can watch for it.')
    """
    good = {limit.parameter: limit.last_good for limit in cause.thresholds}
    conditions = [Condition(each.parameter, each.op, each.value, good.get(each.parameter)) for each in cause.conditions]
    try:
        fields = policy_of(conditions)
    except NoPolicy as why:
        return None, str(why)
    recognised = cause.recognised.cause if cause.recognised is not None else ""
    definition = Definition.model_validate(
        {
            **fields,
            "symptoms": [cause.symptom] if cause.symptom is not None and _SYMPTOM.fullmatch(cause.symptom) else [],
            "causes": [recognised] if _CAUSE.fullmatch(recognised) else [],
        }
    )
    return definition, None
