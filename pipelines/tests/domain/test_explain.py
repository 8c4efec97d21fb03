"""The sentences of a ticket: which there are, in which order, and when."""

import pytest

from wallwatch.domain.catalogue.load import causes, detected
from wallwatch.domain.evidence import Feature, evidence
from wallwatch.domain.hypotheses.rank import Hypothesis
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms.explain import CLOSE, explain_active, explain_cleared, measured, who
from wallwatch_testing.stories import START_MS

RNIC, HOST = {"host": "h1", "pci": "0000:17:00.0", "rack": ""}, {"host": "h1", "pci": "", "rack": ""}
S1 = detected()["S1"]
FLAWED, FIXED = Identity("CX-6", "mlx5_core", "20.35.1012"), Identity("CX-6", "mlx5_core", "20.43.2000")


@pytest.mark.parametrize(
    ("pci", "rack", "rnic", "text"),
    [
        ("", "", Identity(), "host h1"),
        ("", "r1", Identity("CX-6"), "host h1 (rack r1)"),
        ("p", "", Identity(), "RNIC p of host h1"),
        ("p", "r1", Identity(), "RNIC p of host h1 (rack r1)"),
        ("p", "", Identity("CX-6"), "RNIC p of host h1 (CX-6)"),
        ("p", "", Identity("", "ice"), "RNIC p of host h1 (ice)"),
        ("p", "r1", Identity("", "", "4.2"), "RNIC p of host h1 (rack r1; firmware 4.2)"),
        ("p", "r1", Identity("CX-6", "mlx5_core", "20.1"), "RNIC p of host h1 (rack r1; CX-6, mlx5_core, firmware 20.1)"),
    ],
)
def test_an_rnic_is_named_with_what_is_known_of_it(pci: str, rack: str, rnic: Identity, text: str) -> None:
    assert who({"host": "h1", "pci": pci, "rack": rack}, rnic) == text


def ranked(first: float, second: float, because: str = "", cause: str = "C5") -> list[Hypothesis]:
    reason = (evidence("reoffload_ratio", Feature(0.5, 0, 1), "< 0.1", because),) if because else ()
    other = "C1" if cause != "C1" else "C4"
    return [
        Hypothesis(cause, causes()[cause].title, 0.1, first, reason, (), "look at the counters"),
        Hypothesis(other, causes()[other].title, 0.1, second, (), (), "look elsewhere."),
    ]


def sentences(
    causes_ranked: list[Hypothesis], rnic: Identity = Identity(), known_model: bool = True, subject: dict[str, str] = RNIC
) -> str:
    seen = [evidence("reoffload_ratio", Feature(0.1 * number, 0, 1), "< 0.1", "x") for number in range(1, 5)]
    return explain_active(S1, subject, rnic, START_MS, "Something is wrong.", seen, causes_ranked, known_model)


def test_without_causes_the_first_three_signals_speak() -> None:
    text = sentences([])
    assert text.startswith(f"{S1.title} on RNIC 0000:17:00.0 of host h1 since 20")
    assert [f"{value} (expected < 0.1)" in text for value in ("0.1", "0.2", "0.3", "0.4")] == [True, True, True, False]
    nothing = explain_active(S1, RNIC, Identity(), START_MS, "Something is wrong.", [], [], True)
    assert nothing.endswith("Something is wrong.")


@pytest.mark.parametrize(("second", "said"), [(CLOSE, True), (CLOSE - 0.001, False)])
def test_a_second_cause_gets_a_sentence_where_it_is_close(second: float, said: bool) -> None:
    text = sentences(ranked(0.8, second, "Flows come back."))
    assert "The most likely cause is C5 (" in text
    assert "; 80%) because flows come back." in text
    assert (f"is also possible ({second:.0%})." in text) is said


def test_a_cause_without_evidence_for_it_is_named_without_a_reason() -> None:
    assert "; 80%). To confirm: look at the counters." in sentences(ranked(0.8, 0.1))
    assert "because" not in sentences(ranked(0.8, 0.1))


def test_the_test_that_confirms_ends_with_one_full_stop() -> None:
    swapped = list(reversed(ranked(0.1, 0.8)))
    assert sentences(swapped).endswith("To confirm: look elsewhere.")
    assert sentences(ranked(0.8, 0.1)).endswith("To confirm: look at the counters.")


@pytest.mark.parametrize(
    ("rnic", "said"),
    [
        (FLAWED, "An upgrade removes this cause; installed: firmware 20.35.1012 (fixed from 20.41.1000 on)."),
        (FIXED, "The installed firmware 20.43.2000 (fixed from 20.41.1000 on) should not have this cause, so verify it."),
        (Identity(), ""),
    ],
)
def test_an_installed_version_speaks_for_or_against_the_cause(rnic: Identity, said: str) -> None:
    assert causes()["C5"].settled_by_upgrade
    text = sentences(ranked(0.8, 0.1), rnic)
    assert said in text
    assert ("upgrade" in text) is (rnic is FLAWED)
    assert ("verify" in text) is (rnic is FIXED)


@pytest.mark.parametrize(("known", "subject", "said"), [(False, RNIC, True), (True, RNIC, False), (False, HOST, False)])
def test_an_unknown_model_is_named_as_such(known: bool, subject: dict[str, str], said: bool) -> None:
    assert ("The RNIC's model is not in the catalogue" in sentences(ranked(0.8, 0.1), known_model=known, subject=subject)) is said
    assert ("The RNIC's model is not in the catalogue" in sentences([], known_model=known, subject=subject)) is said


def test_six_sentences_are_enough() -> None:
    """The seventh would be about the model."""
    text = sentences(ranked(0.7, 0.2, "Flows come back."), FLAWED, known_model=False)
    assert text.endswith("To confirm: look at the counters.")
    assert "is also possible (20%)." in text


def test_a_measured_value_has_its_unit_unless_it_is_a_mere_number() -> None:
    assert measured(evidence("reoffload_ratio", Feature(0.12345, 0, 1), "< 0.1", "x")).endswith(": 0.123 (expected < 0.1)")
    assert measured(evidence("counter_gap_max_s", Feature(17.0, 0, 1), "< 5 s", "x")).endswith(": 17 s (expected < 5 s)")


def test_a_cleared_finding_says_for_how_many_minutes_it_was_active() -> None:
    text = explain_cleared(S1, HOST, Identity(), START_MS, START_MS + 90_000)
    assert text.startswith(f"{S1.title} on host h1 has cleared. It was active from 20")
    assert text.endswith(" UTC (1.5 minutes).")
