"""Truth tables of `judge` and `advance`, written by hand from what the catalogue's header and the contracts say.

The rows are the specification in tables: `symptoms.yaml` ("a missing required or gate signal neither raises nor clears", "gates are
ignored afterwards", "one of the alternatives is enough to raise, and all measured ones must cross `clear` to clear") and the docstrings of
`Verdict`.
"""

from typing import Any

import pytest

from wallwatch.domain.catalogue.models import Condition, Definition
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms.detect import Change, Verdict, advance, judge
from wallwatch.domain.symptoms.window import WINDOW_MS

Y, N, M, U = 0.9, 0.1, 0.5, None
"""A signal of which 0.8 raises and less than 0.2 clears: it shows the symptom, it does not, it is in the middle, it is unknown."""

PRESENT, ABSENT, BETWEEN, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.BETWEEN, Verdict.UNKNOWN


def condition(signal: str, role: str, group: str | None = None) -> Condition:
    clear = {"clear": {"below": 0.2}} if role == "required" else {}
    body = {
        "signal": signal,
        "role": role,
        "any": group,
        "window_s": 15,
        "statistic": "mean",
        "raise": {"at_least": 0.8},
        "text": "x",
        "why": "x",
        **clear,
    }
    return Condition.model_validate(body)


def definition(rule: str, *conditions: Condition) -> Definition:
    return Definition.model_validate(
        {
            "rule": rule, "blast_radius": "rnic", "raise_for_s": 10, "clear_for_s": 20, "why": "x", "conditions": conditions,
            "critical_when": (), "summary": "x", "remedies": (),
        }
    )  # fmt: skip


TWO_AND_A_GATE = definition(
    "table 1", condition("a", "required"), condition("b", "required"), condition("g", "gate"), condition("s", "supporting")
)
ALTERNATIVES = definition("table 2", condition("a", "required", "x"), condition("b", "required", "x"), condition("c", "required"))
GATES = definition("table 3", condition("a", "required"), condition("g", "gate", "y"), condition("h", "gate", "y"))


def verdict(of: Definition, names: str, row: tuple[float | None, ...], active: bool, expected: str = "") -> Verdict:
    values = dict(zip(names, row, strict=True))

    def feature_of(asked: Condition) -> Feature | None:
        value = values.get(asked.signal)
        return None if value is None else Feature(value, 0, 1)

    return judge(of, feature_of, active, set(expected).__contains__)


@pytest.mark.parametrize(
    ("a", "b", "g", "s", "found"),
    [
        (Y, Y, Y, Y, PRESENT),
        (Y, Y, Y, N, PRESENT),  # supporting signals are evidence only
        (Y, Y, Y, U, PRESENT),
        (N, Y, Y, Y, ABSENT),
        (M, Y, Y, Y, ABSENT),  # the middle does not raise
        (Y, N, Y, Y, ABSENT),
        (Y, Y, N, Y, ABSENT),
        (Y, Y, M, Y, ABSENT),
        (N, N, N, N, ABSENT),
        (U, Y, Y, Y, UNKNOWN),
        (Y, U, Y, Y, UNKNOWN),
        (Y, Y, U, Y, UNKNOWN),
        (U, U, U, U, UNKNOWN),
        (U, N, Y, Y, ABSENT),  # one that is known not to hold decides, whatever the others are
        (N, U, Y, Y, ABSENT),
        (Y, U, N, Y, ABSENT),
        (U, Y, N, Y, ABSENT),
    ],
)
def test_to_be_raised_all_required_and_gate_conditions_must_hold(a: float, b: float, g: float, s: float, found: Verdict) -> None:
    assert verdict(TWO_AND_A_GATE, "abgs", (a, b, g, s), active=False) is found


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (Y, Y, PRESENT),
        (Y, M, BETWEEN),
        (M, Y, BETWEEN),
        (M, M, BETWEEN),
        (Y, N, ABSENT),  # crossing `clear` on any of them clears
        (N, Y, ABSENT),
        (N, M, ABSENT),
        (N, N, ABSENT),
        (N, U, ABSENT),
        (U, N, ABSENT),
        (Y, U, UNKNOWN),
        (U, Y, UNKNOWN),
        (U, U, UNKNOWN),
        (M, U, BETWEEN),  # what was measured has not cleared: that is known
        (U, M, BETWEEN),
    ],
)
@pytest.mark.parametrize("g", [Y, N, U])
def test_an_active_symptom_ends_with_any_required_condition_and_its_gates_are_ignored(a: float, b: float, found: Verdict, g: float) -> None:
    assert verdict(TWO_AND_A_GATE, "abgs", (a, b, g, U), active=True) is found


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (Y, Y, PRESENT),
        (Y, N, PRESENT),
        (N, Y, PRESENT),
        (Y, U, PRESENT),  # one of the alternatives is enough
        (U, Y, PRESENT),
        (N, N, ABSENT),
        (M, N, ABSENT),
        (N, U, UNKNOWN),  # the one that is not measured might hold
        (U, N, UNKNOWN),
        (U, U, UNKNOWN),
    ],
)
def test_one_alternative_is_enough_to_raise(a: float, b: float, found: Verdict) -> None:
    assert verdict(ALTERNATIVES, "abc", (a, b, Y), active=False) is found
    assert verdict(ALTERNATIVES, "abc", (a, b, N), active=False) is ABSENT  # whatever the order in which groups are looked at
    assert verdict(GATES, "gha", (a, b, Y), active=False) is found


@pytest.mark.parametrize(
    ("a", "b", "expected", "found"),
    [
        (Y, Y, "", PRESENT),
        (Y, N, "", PRESENT),  # still there as long as one of the alternatives is
        (N, Y, "", PRESENT),
        (Y, U, "", PRESENT),
        (N, N, "", ABSENT),  # all measured ones must cross clear
        (N, M, "", BETWEEN),
        (M, N, "", BETWEEN),
        (M, M, "", BETWEEN),
        (N, U, "", ABSENT),  # this RNIC never measures the other one: it cannot keep the symptom
        (U, N, "", ABSENT),
        (N, U, "a", ABSENT),
        (N, U, "b", UNKNOWN),  # it does measure it, only not now: it may still hold
        (U, N, "b", ABSENT),
        (U, N, "a", UNKNOWN),
        (N, N, "ab", ABSENT),
        (M, U, "", UNKNOWN),
        (M, U, "b", UNKNOWN),
        (U, U, "", UNKNOWN),
        (U, U, "ab", UNKNOWN),
    ],
)
def test_an_active_symptom_ends_when_all_alternatives_that_this_rnic_measures_are_gone(
    a: float, b: float, expected: str, found: Verdict
) -> None:
    assert verdict(ALTERNATIVES, "abc", (a, b, Y), active=True, expected=expected) is found
    assert verdict(ALTERNATIVES, "abc", (a, b, N), active=True, expected=expected) is ABSENT


def test_a_condition_without_alternatives_is_unknown_when_it_is_missing_whether_or_not_it_was_measured_before() -> None:
    assert verdict(ALTERNATIVES, "abc", (Y, Y, U), active=True) is UNKNOWN
    assert verdict(ALTERNATIVES, "abc", (Y, Y, U), active=True, expected="c") is UNKNOWN


NOW = 1_790_000_000_000
GAP = WINDOW_MS + 1
"""A pause longer than a window: nobody observed it."""


def life(phase: str, since_s: float, checked_ms: int = 1000, **more: Any) -> dict[str, Any]:
    """A life that has been in its phase for some seconds, and was last looked at some ms ago."""
    return {"phase": phase, "since": NOW - int(since_s * 1000), "checked": NOW - checked_ms, **more}


OLD: dict[str, Any] = {"started": NOW - 90_000, "known": NOW - 1000, "reported": NOW - 5000}
"""What an active life has besides; `reported` stands for all that the report keeps."""

BORN = {"phase": "active", "started": NOW, "since": NOW, "checked": NOW, "known": NOW}
RAISES_AFTER_9_S, CLEARS_AFTER_18_S = 9.0, 18.0
"""10 s and 20 s with 10% of slack."""


@pytest.mark.parametrize("found", [ABSENT, BETWEEN, UNKNOWN])
def test_what_is_healthy_stays_so_unless_the_symptom_is_present(found: Verdict) -> None:
    assert advance({}, TWO_AND_A_GATE, found, NOW) == ({}, None)


def test_a_symptom_that_is_present_begins_to_be_raised() -> None:
    assert advance({}, TWO_AND_A_GATE, PRESENT, NOW) == ({"phase": "raising", "since": NOW, "checked": NOW}, None)


def test_a_symptom_without_a_waiting_time_is_active_at_once() -> None:
    at_once = TWO_AND_A_GATE.model_copy(update={"raise_for_s": 0})
    assert advance({}, at_once, PRESENT, NOW) == (BORN, Change.RAISED)


@pytest.mark.parametrize(
    ("before", "found", "after", "change"),
    [
        (life("raising", 5), PRESENT, {"phase": "raising", "since": NOW - 5000, "checked": NOW}, None),
        (life("raising", 5), ABSENT, {}, None),
        (life("raising", 5), BETWEEN, {}, None),
        # Unknown neither raises nor denies: the time goes on, and counts once the symptom is seen again.
        (life("raising", 5), UNKNOWN, {"phase": "raising", "since": NOW - 5000, "checked": NOW}, None),
        (life("raising", RAISES_AFTER_9_S), UNKNOWN, {"phase": "raising", "since": NOW - 9000, "checked": NOW}, None),
        (life("raising", RAISES_AFTER_9_S), PRESENT, {**BORN, "started": NOW - 9000}, Change.RAISED),
        (life("raising", 8.999), PRESENT, {"phase": "raising", "since": NOW - 8999, "checked": NOW}, None),
        # A pause that nobody observed breaks what must last without a break; one of exactly a window does not.
        (life("raising", 70, GAP), PRESENT, {"phase": "raising", "since": NOW, "checked": NOW}, None),
        (life("raising", 70, GAP), UNKNOWN, {}, None),
        (life("raising", 70, WINDOW_MS), PRESENT, {**BORN, "started": NOW - 70_000}, Change.RAISED),
        (life("raising", 70, WINDOW_MS), UNKNOWN, {"phase": "raising", "since": NOW - 70_000, "checked": NOW}, None),
    ],
)
def test_raising(before: dict[str, Any], found: Verdict, after: dict[str, Any], change: Change | None) -> None:
    assert advance(before, TWO_AND_A_GATE, found, NOW) == (after, change)


def active(**more: Any) -> dict[str, Any]:
    return {**OLD, "phase": "active", "since": NOW - 60_000, "checked": NOW, **more}


def clearing(since: int, **more: Any) -> dict[str, Any]:
    return {**OLD, "phase": "clearing", "since": since, "checked": NOW, **more}


@pytest.mark.parametrize(
    ("before", "found", "after", "change"),
    [
        (life("active", 60, **OLD), PRESENT, active(known=NOW), None),
        (life("active", 60, **OLD), BETWEEN, active(known=NOW), None),
        # Unknown: it stays active, and how long nothing has been known is kept, so that the finding says that it is stale.
        (life("active", 60, **OLD), UNKNOWN, active(known=NOW - 1000), None),
        (life("active", 60, GAP, **OLD), UNKNOWN, active(known=NOW - 1000), None),
        (life("active", 60, **OLD), ABSENT, clearing(NOW, known=NOW), None),
        (life("active", 60, GAP, **OLD), ABSENT, clearing(NOW, known=NOW), None),
        (life("clearing", 5, **OLD), ABSENT, clearing(NOW - 5000, known=NOW), None),
        (life("clearing", 17.999, **OLD), ABSENT, clearing(NOW - 17_999, known=NOW), None),
        (life("clearing", CLEARS_AFTER_18_S, **OLD), ABSENT, {}, Change.CLEARED),
        # It came back, or is not gone clearly enough: active again, and its time of clearing is forgotten.
        (life("clearing", 17, **OLD), PRESENT, {**active(known=NOW), "since": NOW - 17_000}, None),
        (life("clearing", 17, **OLD), BETWEEN, {**active(known=NOW), "since": NOW - 17_000}, None),
        # Time without a measurement does not count towards being healthy: since moves by the second that passed.
        (life("clearing", 5, **OLD), UNKNOWN, clearing(NOW - 4000, known=NOW - 1000), None),
        (life("clearing", 30, **OLD), UNKNOWN, clearing(NOW - 29_000, known=NOW - 1000), None),
        (life("clearing", 70, WINDOW_MS, **OLD), UNKNOWN, clearing(NOW - 10_000, known=NOW - 1000), None),
        (life("clearing", 70, WINDOW_MS, **OLD), ABSENT, {}, Change.CLEARED),
        # After a pause that nobody observed, clearing starts over.
        (life("clearing", 70, GAP, **OLD), ABSENT, clearing(NOW, known=NOW), None),
        (life("clearing", 70, GAP, **OLD), UNKNOWN, {**active(known=NOW - 1000), "since": NOW - 70_000}, None),
    ],
)
def test_the_end_of_an_active_symptom(before: dict[str, Any], found: Verdict, after: dict[str, Any], change: Change | None) -> None:
    assert advance(before, TWO_AND_A_GATE, found, NOW) == (after, change)


def test_a_symptom_that_came_back_while_it_was_clearing_must_be_gone_for_the_whole_time_again() -> None:
    again, _ = advance(life("clearing", 17, **OLD), TWO_AND_A_GATE, PRESENT, NOW)
    gone, change = advance(again, TWO_AND_A_GATE, ABSENT, NOW + 5000)
    assert (gone["phase"], gone["since"], change) == ("clearing", NOW + 5000, None)


def test_a_life_that_never_noted_when_it_was_known_is_known_now() -> None:
    old = {"phase": "active", "started": NOW - 90_000, "since": NOW - 60_000, "checked": NOW - 1000}
    assert advance(old, TWO_AND_A_GATE, UNKNOWN, NOW)[0]["known"] == NOW


def test_a_symptom_that_must_be_gone_for_no_time_ends_at_once() -> None:
    at_once = TWO_AND_A_GATE.model_copy(update={"clear_for_s": 0})
    assert advance(life("active", 60, **OLD), at_once, ABSENT, NOW) == ({}, Change.CLEARED)
