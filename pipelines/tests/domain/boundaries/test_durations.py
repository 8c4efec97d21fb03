"""How long a symptom must hold before it is raised, be gone before it is cleared, and be apart from the ones that explain it.

The stage itself judges an RNIC whose windows hold exactly the signals of each definition, second by second.
"""

import math

import pytest

from wallwatch.domain.catalogue.models import Definition, Detected
from wallwatch.domain.symptoms.detect import Change, Phase, Verdict, advance
from wallwatch_testing.boundaries import Bench, definitions, ended_by, shown_by
from wallwatch_testing.stories import START_MS

ALL = [pytest.param(entry, definition, id=definition.rule) for entry, definition in definitions()]
NOT_WITH = [
    pytest.param(entry, other, seconds, id=f"{definition.rule} not with {other}")
    for entry, definition in definitions()
    for other, seconds in definition.not_with.items()
]
SLACK = 0.9
"""The documented slack for jittering samples: a duration counts as reached at 90% of it."""


def reached_ms(seconds: int) -> int:
    """The first millisecond at which a duration counts as reached."""
    return math.ceil(seconds * 1000 * SLACK)


@pytest.mark.parametrize(("entry", "definition"), ALL)
def test_a_symptom_is_raised_once_it_has_held_for_its_time_to_the_millisecond(entry: Detected, definition: Definition) -> None:
    reached = reached_ms(definition.raise_for_s)
    raising, change = advance({}, definition, Verdict.PRESENT, START_MS)
    if not reached:
        assert (raising["phase"], change) == (Phase.ACTIVE, Change.RAISED)
        return
    assert (raising["phase"], change) == (Phase.RAISING, None)
    assert advance(raising, definition, Verdict.PRESENT, START_MS + reached - 1)[1] is None
    assert advance(raising, definition, Verdict.PRESENT, START_MS + reached)[1] is Change.RAISED


@pytest.mark.parametrize(("entry", "definition"), ALL)
def test_a_symptom_is_cleared_once_it_has_been_gone_for_its_time_to_the_millisecond(entry: Detected, definition: Definition) -> None:
    active = {"phase": "active", "started": START_MS, "since": START_MS, "checked": START_MS, "known": START_MS}
    reached = reached_ms(definition.clear_for_s)
    clearing, change = advance(active, definition, Verdict.ABSENT, START_MS)
    assert (clearing["phase"], change) == (Phase.CLEARING, None)
    almost, change = advance(clearing, definition, Verdict.ABSENT, START_MS + reached - 1)
    assert (almost["phase"], change) == (Phase.CLEARING, None)
    assert advance(clearing, definition, Verdict.ABSENT, START_MS + reached) == ({}, Change.CLEARED)


@pytest.mark.parametrize(("entry", "definition"), ALL)
def test_the_stage_raises_and_clears_at_the_exact_second(entry: Detected, definition: Definition) -> None:
    raised_at, cleared_after = math.ceil(definition.raise_for_s * SLACK), math.ceil(definition.clear_for_s * SLACK)
    for gone in ended_by(definition):
        bench, shown = Bench(entry), shown_by(definition)
        for second in range(raised_at):
            assert bench.tick(second, shown) == [], second
        assert bench.tick(raised_at, shown)[:1] == ["active"]
        first = raised_at + 1
        for second in range(first, first + cleared_after):
            assert "cleared" not in bench.tick(second, gone), second
        assert bench.tick(first + cleared_after, gone) == ["cleared"]


@pytest.mark.parametrize(("entry", "other", "seconds"), NOT_WITH)
def test_a_symptom_is_not_raised_while_another_explains_it_nor_for_its_time_afterwards(entry: Detected, other: str, seconds: int) -> None:
    definition = entry.definition
    assert definition is not None
    shown, first = shown_by(definition), math.ceil(definition.raise_for_s * SLACK)

    def states(ended_ms_before: int) -> list[str]:
        """What is reported when the other symptom had ended for this long by the moment at which this one would be raised."""
        bench = Bench(entry)
        bench.note_end(other, START_MS + first * 1000 - ended_ms_before)
        bench.lives_of(entry.id)[entry.id] = {"phase": "raising", "since": START_MS, "checked": START_MS + first * 1000 - 1000}
        return bench.tick(first, shown)

    assert states(ended_ms_before=seconds * 1000 - 1) == []
    assert "active" in states(ended_ms_before=seconds * 1000)

    for phase in ("active", "clearing"):
        bench = Bench(entry)
        there = {"phase": phase, "started": START_MS, "since": START_MS, "checked": START_MS, "known": START_MS, "reported": START_MS}
        bench.lives_of(other)[other] = there
        assert [bench.tick(second, shown) for second in range(first + 1)] == [[]] * (first + 1)
