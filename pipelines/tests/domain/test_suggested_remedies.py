"""What a finding suggests is an order that its action accepts as it stands."""

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Symptom
from wallwatch.domain.symptoms.remedies import suggest

SYMPTOMS = [symptom for symptom in load.symptoms().values() if symptom.definition is not None]


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.id)
def test_every_suggestion_is_acceptable_whatever_was_measured(symptom: Symptom) -> None:
    definition = symptom.definition
    assert definition is not None
    for value in (None, 0.0, 12.5, 1e9):
        suggested = suggest(symptom.id, definition, list(load.causes()), "0000:3b:00.0", "t" * 300, lambda _, value=value: value)  # type: ignore[misc]  # mypy does not infer a default of a lambda
        assert {each["action"] for each in suggested} >= {remedy.action for remedy in definition.remedies}
        for each in suggested:
            with_plan = {"plan", "operations_sha256"} if each["action"] == "apply-mask-plan" else set()
            assert set(load.remedies()[each["action"]].problems(each["params"])) == with_plan, each
            assert set(each["derivations"]) <= set(each["params"])


def actions(symptom: str, *likely_causes: str) -> list[str]:
    definition = load.symptoms()[symptom].definition
    assert definition is not None
    return [each["action"] for each in suggest(symptom, definition, likely_causes, "0000:3b:00.0", "t", lambda _: None)]


@pytest.mark.parametrize(
    ("symptom", "cause", "first"),
    [
        ("S1", "C1", "tune-revalidator"),
        ("S1", "C5", "tune-revalidator"),
        ("S2", "C2", "pace-flow-insertion"),
        ("S2", "C8", "cap-encap-contexts"),
        ("S4", "C4", "tune-revalidator"),
        ("S5", "C5", "tune-revalidator"),
        ("S6", "C6", "apply-mask-plan"),
        ("S7", "C7", "pace-vf-unbinding"),
        ("S8", "C8", "recover-health-reporter"),
    ],
)
def test_what_the_likely_cause_asks_for_is_offered_first_and_the_cordon_last(symptom: str, cause: str, first: str) -> None:
    offered = actions(symptom, cause)
    assert (offered[0], offered[-1]) == (first, "cordon-rnic")


@pytest.mark.parametrize("symptom", [symptom.id for symptom in SYMPTOMS])
@pytest.mark.parametrize("cause", sorted(load.causes()))
def test_a_cordon_never_comes_before_what_cures(symptom: str, cause: str) -> None:
    contains = [load.remedies()[action].contains for action in actions(symptom, cause)]
    assert contains == sorted(contains)


def test_the_likelier_of_two_causes_is_asked_first() -> None:
    assert actions("S2", "C8", "C2")[:2] == ["cap-encap-contexts", "pace-flow-insertion"]
    assert actions("S2", "C2", "C8")[:2] == ["pace-flow-insertion", "cap-encap-contexts"]


def test_a_cause_that_asks_for_nothing_leaves_the_symptoms_own_remedies() -> None:
    assert actions("S3", "C3") == ["cordon-rnic"]


def test_the_causes_that_need_scheduling_have_a_remedy_that_does_it() -> None:
    by_symptom = {symptom.id: [remedy.action for remedy in symptom.definition.remedies] for symptom in SYMPTOMS if symptom.definition}
    assert by_symptom["S2"][0] == "pace-flow-insertion"
    assert by_symptom["S7"][0] == "pace-vf-unbinding"
    assert "recover-health-reporter" in by_symptom["S8"]
