"""Each bound of each definition, from the catalogue's file: just met counts, just missed does not.

What the numbers are is in `reviewed/`; here it is tested that they decide.
"""

import math

import pytest

from wallwatch.domain.catalogue.models import Bound, Condition, Definition
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms.detect import FeatureOf, Verdict, judge, severity
from wallwatch_testing.boundaries import alternatives, conditions, definitions, groups, just_met, just_missed, name_of

NEEDED = [pytest.param(d, c, id=name_of(d, c)) for d, c in conditions("required", "gate")]
REQUIRED = [pytest.param(d, c, id=name_of(d, c)) for d, c in conditions("required")]
ALL = [pytest.param(d, id=d.rule) for _, d in definitions()]
CRITICAL = [pytest.param(d, at, id=f"{d.rule} {bound.signal}") for _, d in definitions() for at, bound in enumerate(d.critical_when)]


def measured(values: dict[int, float]) -> FeatureOf:
    """Each condition's own value, by its identity: conditions on one signal may have different ones, as their windows do."""
    return lambda condition: Feature(values[id(condition)], 0, 1) if id(condition) in values else None


def all_met(definition: Definition) -> dict[int, float]:
    return {id(c): just_met(c.raise_) for c in definition.conditions}


def this_one_decides(definition: Definition, condition: Condition) -> dict[int, float]:
    """Everything holds, and of the condition's own group only the condition can."""
    others = {id(c): just_missed(c.raise_) for c in alternatives(definition, condition)}
    return {**all_met(definition), **others}


@pytest.mark.parametrize("kind", ["at_least", "at_most", "above", "below"])
def test_the_values_at_the_edge_of_a_bound_are_neighbours_of_which_one_meets_it(kind: str) -> None:
    for limit in (0.0, 0.15, 1.0, 200.0):
        bound = Bound.model_validate({kind: limit})
        met, missed = just_met(bound), just_missed(bound)
        assert (bound.holds(met), bound.holds(missed)) == (True, False)
        assert math.nextafter(met, missed) == missed
        assert (met if kind.startswith("at_") else missed) == limit


@pytest.mark.parametrize(("definition", "condition"), NEEDED)
def test_a_condition_that_is_just_met_raises_and_one_that_is_just_missed_does_not(definition: Definition, condition: Condition) -> None:
    values = this_one_decides(definition, condition)
    assert judge(definition, measured(values), active=False) is Verdict.PRESENT
    missed = {**values, id(condition): just_missed(condition.raise_)}
    assert judge(definition, measured(missed), active=False) is Verdict.ABSENT


@pytest.mark.parametrize(("definition", "condition"), NEEDED)
def test_a_condition_that_is_not_measured_neither_raises_nor_denies(definition: Definition, condition: Condition) -> None:
    values = this_one_decides(definition, condition)
    del values[id(condition)]
    assert judge(definition, measured(values), active=False) is Verdict.UNKNOWN


@pytest.mark.parametrize("definition", ALL)
def test_supporting_conditions_decide_nothing(definition: Definition) -> None:
    supporting = [c for c in definition.conditions if c.role == "supporting"]
    values = all_met(definition)
    missed = {**values, **{id(c): just_missed(c.raise_) for c in supporting}}
    absent = {key: value for key, value in values.items() if key not in {id(c) for c in supporting}}
    for active in (False, True):
        assert judge(definition, measured(missed), active) is Verdict.PRESENT
        assert judge(definition, measured(absent), active) is Verdict.PRESENT


@pytest.mark.parametrize(("definition", "condition"), REQUIRED)
def test_a_symptom_ends_once_a_group_of_required_conditions_has_crossed_its_clear_bounds_and_not_before(
    definition: Definition, condition: Condition
) -> None:
    group = [condition, *alternatives(definition, condition)]
    gone = {**all_met(definition), **{id(c): just_met(c.clear) for c in group if c.clear is not None}}
    assert judge(definition, measured(gone), active=True) is Verdict.ABSENT
    assert condition.clear is not None
    almost = just_missed(condition.clear)
    still = Verdict.PRESENT if condition.raise_.holds(almost) else Verdict.BETWEEN
    assert judge(definition, measured({**gone, id(condition): almost}), active=True) is still
    assert judge(definition, measured({**gone, id(condition): just_met(condition.raise_)}), active=True) is Verdict.PRESENT


@pytest.mark.parametrize(("definition", "condition"), REQUIRED)
def test_no_value_both_raises_and_clears(definition: Definition, condition: Condition) -> None:
    assert condition.clear is not None
    assert not condition.clear.holds(just_met(condition.raise_))
    assert not condition.raise_.holds(just_met(condition.clear))


@pytest.mark.parametrize("definition", ALL)
def test_gates_are_ignored_once_a_symptom_is_active(definition: Definition) -> None:
    gates = {id(c): just_missed(c.raise_) for group in groups(definition, "gate") for c in group}
    assert judge(definition, measured({**all_met(definition), **gates}), active=True) is Verdict.PRESENT


@pytest.mark.parametrize(("definition", "at"), CRITICAL)
def test_a_bound_that_is_just_met_makes_a_finding_critical_and_one_that_is_just_missed_does_not(definition: Definition, at: int) -> None:
    values = {bound.signal: just_missed(bound) for bound in definition.critical_when}
    assert severity(definition, values.get) == definition.severity == "warning"
    bound = definition.critical_when[at]
    assert severity(definition, {**values, bound.signal: just_met(bound)}.get) == "critical"
    assert severity(definition, {bound.signal: just_met(bound)}.get) == "critical"
    assert severity(definition, {}.get) == "warning"
