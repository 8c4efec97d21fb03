"""What a finding says: which observation of a cause it keeps, which counters moved, how long its silence lasts before it is stale."""

from typing import Any

import pytest

from wallwatch.domain.catalogue.load import causes, detected, known_signals
from wallwatch.domain.catalogue.models import EvidenceRule
from wallwatch.domain.evidence import Feature
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms import finding_messages
from wallwatch.domain.symptoms.features import Features
from wallwatch_testing.stories import START_MS

SUBJECT = {"host": "h", "pci": "0000:3b:00.0", "rack": "r"}
RULE = next(rule for rule in causes()["C1"].rules if rule.signal == "flows_wall_share")
YES, ALSO_YES, NO, ALSO_NO = 1.0, 1.2, 0.1, 0.2


class Seen(Features):
    """Signals that have the given values, whatever the window."""

    def __init__(self, values: dict[str, float], parts: dict[str, float] | None = None, at_ms: int = START_MS) -> None:
        self.values, self.moved, self.at_ms = values, parts or {}, at_ms

    def get(self, signal: str, window_s: int = 30, statistic: str = "mean") -> Feature | None:
        value = self.values.get(signal)
        return None if value is None else Feature(value, self.at_ms - 1000 * window_s, self.at_ms)

    def parts(self, signal: str) -> dict[str, float]:
        return self.moved


def message(seen: Seen, life: dict[str, Any], symptom: str = "S1", fading: bool = False, at_ms: int = START_MS) -> dict[str, Any]:
    return finding_messages.active(detected()[symptom], SUBJECT, Identity(), life, seen, at_ms, fading, True)


def new_life() -> dict[str, Any]:
    return {"started": START_MS, "known": START_MS}


def observed(found: dict[str, Any], rule: EvidenceRule = RULE) -> float | None:
    """The value of a rule's signal in the evidence of its cause."""
    cause = next(each for each in found["hypotheses"] if each["cause"] == "C1")
    for reason in cause["evidence_for"] + cause["evidence_against"]:
        if reason["signal"] == rule.signal:
            return float(reason["value"])
    return None


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([YES], YES),
        ([YES, ALSO_YES], ALSO_YES),  # the newest sighting
        ([ALSO_YES, YES], YES),
        ([NO, YES], YES),
        ([NO, ALSO_NO], ALSO_NO),
        ([YES, NO], YES),  # a wall that was reached has been reached
        ([YES, None], YES),
        ([None, YES], YES),
        ([NO, None], NO),
        ([None], None),
    ],
)
def test_what_has_been_seen_of_a_cause_stays_seen_and_the_newest_sighting_counts(values: list[float | None], kept: float | None) -> None:
    assert [RULE.test.holds(value) for value in (YES, ALSO_YES, NO, ALSO_NO)] == [True, True, False, False]
    life, found = new_life(), {}
    for value in values:
        found = message(Seen({} if value is None else {RULE.signal: value}), life)
    assert observed(found) == kept


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ((10_000.0, 10_000.0), ALSO_YES),
        ((10_000.0, 60_000.0), YES),  # somebody has acted on the cause: what is seen now is no evidence of it
        ((10_000.0, None), ALSO_YES),
        ((None, 60_000.0), ALSO_YES),
    ],
)
def test_evidence_is_that_of_the_settings_in_which_the_symptom_arose(settings: tuple[float | None, float | None], kept: float) -> None:
    life, found = new_life(), {}
    for setting, value in zip(settings, (YES, ALSO_YES), strict=True):
        found = message(Seen({RULE.signal: value} | ({} if setting is None else {"max_idle_ms": setting})), life)
    assert observed(found) == kept


def test_while_a_symptom_is_clearing_its_causes_stay_as_they_were() -> None:
    life = new_life()
    message(Seen({RULE.signal: YES}), life)
    assert observed(message(Seen({RULE.signal: ALSO_YES}), life, fading=True)) == YES
    never_seen = new_life()
    assert observed(message(Seen({RULE.signal: YES}), never_seen, fading=True)) == YES


@pytest.mark.parametrize(("silent_s", "stale"), [(0, False), (29.999, False), (30, True)])
def test_a_finding_is_stale_half_a_minute_after_its_signals_were_measured(silent_s: float, stale: bool) -> None:
    life = new_life()
    message(Seen({RULE.signal: YES}), life)
    found = message(Seen({RULE.signal: ALSO_YES}), life, at_ms=START_MS + round(silent_s * 1000))
    assert ("stale, its signals have not been measured since" in found["summary"]) is stale
    assert observed(found) == (YES if stale else ALSO_YES)


def test_a_finding_that_clears_says_how_long_its_conditions_must_be_gone() -> None:
    entry = detected()["S1"]
    assert entry.definition is not None
    found = message(Seen({RULE.signal: YES}), new_life(), fading=True)
    assert (
        found["summary"]
        == f"{entry.title} is clearing; it is cleared once its conditions have been gone for {entry.definition.clear_for_s} s."
    )


def test_a_finding_that_was_critical_stays_so() -> None:
    entry = detected()["S1"]
    assert entry.definition is not None
    bound = entry.definition.critical_when[0]
    beyond = next(value for value in (0.0, 1e9) if bound.holds(value))
    life = new_life()
    assert message(Seen({}), life)["severity"] == entry.definition.severity
    assert message(Seen({bound.signal: beyond}), life)["severity"] == "critical"
    assert message(Seen({}), life)["severity"] == "critical"
    assert finding_messages.cleared(entry, SUBJECT, Identity(), life, Seen({}), START_MS)["severity"] == "critical"
    assert finding_messages.cleared(entry, SUBJECT, Identity(), new_life(), Seen({}), START_MS)["severity"] == entry.definition.severity


@pytest.mark.parametrize("state", ["active", "cleared"])
def test_each_signal_is_evidence_once_with_its_first_condition(state: str) -> None:
    for entry in detected().values():
        assert entry.definition is not None
        seen = Seen({condition.signal: 1.0 for condition in entry.definition.conditions})
        if state == "active":
            found = finding_messages.active(entry, SUBJECT, Identity(), new_life(), seen, START_MS, False, True)
            first = {condition.signal: condition for condition in reversed(entry.definition.conditions)}
        else:
            found = finding_messages.cleared(entry, SUBJECT, Identity(), new_life(), seen, START_MS)
            first = {condition.signal: condition for condition in reversed(entry.definition.conditions) if condition.role == "required"}
        assert sorted(reason["signal"] for reason in found["evidence"]) == sorted(first), entry.id
        for reason in found["evidence"]:
            condition = first[reason["signal"]]
            if condition.clear is not None:  # a healthy RNIC shows what clears the condition
                assert reason["expected"].startswith(condition.clear.text), entry.id
            elif condition.role == "gate":
                assert reason["expected"].startswith(condition.raise_.text), entry.id
            else:
                assert reason["expected"].startswith(condition.raise_.opposite_text), entry.id


def test_counters_of_a_sum_are_named_by_their_share_the_largest_first_and_three_at_most() -> None:
    entry = next(
        each for each in detected().values() if each.definition and any(c.signal == "trouble_share" for c in each.definition.conditions)
    )
    assert entry.definition is not None
    signal = entry.definition.conditions[0].signal

    def said(parts: dict[str, float]) -> str:
        found = finding_messages.active(entry, SUBJECT, Identity(), new_life(), Seen({signal: 1.0}, parts), START_MS, False, True)
        text = str(found["evidence"][0]["text"])
        return text.partition(" Moved: ")[2]

    names = [name for name in sorted(known_signals()) if name.startswith("rx_") or name.startswith("tx_")][:4]
    label = {name: f"{known_signals()[name][0]} ({name})" for name in names}
    assert said({}) == said({names[0]: 0.0}) == ""
    assert said({names[0]: 1.0, names[1]: 3.0}) == f"{label[names[1]]} 75%, {label[names[0]]} 25%."
    three = {names[0]: 2.0, names[1]: 5.0, names[2]: 3.0}
    assert said(three) == f"{label[names[1]]} 50%, {label[names[2]]} 30%, {label[names[0]]} 20%."
    assert said(three | {names[3]: 0.001}).endswith(f"{label[names[0]]} 20%, others.")
