"""What a finding suggests is an order that its action accepts as it stands."""

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.symptoms.remedies import suggest

SYMPTOMS = [symptom for symptom in load.symptoms().values() if symptom.definition is not None]


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.id)
def test_every_suggestion_is_acceptable_whatever_was_measured(symptom: object) -> None:
    definition = symptom.definition  # type: ignore[attr-defined]
    for value in (None, 0.0, 12.5, 1e9):
        suggested = suggest(definition, "0000:3b:00.0", "t" * 300, lambda _, value=value: value)  # type: ignore[misc]
        assert [each["action"] for each in suggested] == [remedy.action for remedy in definition.remedies]
        for each in suggested:
            assert load.remedies()[each["action"]].problems(each["params"]) == {}, each


def test_the_causes_that_need_scheduling_have_a_remedy_that_does_it() -> None:
    by_symptom = {symptom.id: [remedy.action for remedy in symptom.definition.remedies] for symptom in SYMPTOMS if symptom.definition}
    assert by_symptom["S2"][0] == "pace-flow-insertion"
    assert by_symptom["S7"][0] == "pace-vf-unbinding"
    assert "recover-health-reporter" in by_symptom["S8"]
