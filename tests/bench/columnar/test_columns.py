"""Monitors over columns: the same verdicts as event by event, in any batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bench.columnar.columns import Columns

from wallwatch.domain.ltl.gaps import widened
from wallwatch.domain.ltl.monitor import compiled

MONITOR = compiled("G(a -> X b) & (!b W a)")
MACHINE = widened(MONITOR)
SUBJECTS = 4

coded = st.lists(st.tuples(st.integers(0, SUBJECTS - 1), st.integers(0, 3)), max_size=40)
timed = st.lists(st.tuples(st.integers(0, SUBJECTS - 1), st.integers(0, 2), st.integers(0, 3)), max_size=40)


def column(values: list[int], kind: type[np.generic]) -> np.ndarray:
    return np.array(values, dtype=kind)


@settings(max_examples=150)
@given(coded, st.integers(1, 10))
def test_a_batch_with_several_events_of_a_subject_keeps_their_order(events: list[tuple[int, int]], batch: int) -> None:
    columns = Columns(MACHINE, SUBJECTS)
    concluded: list[tuple[int, str]] = []
    for start in range(0, len(events), batch):
        part = events[start : start + batch]
        done = columns.advance(column([s for s, _ in part], np.uint32), column([x for _, x in part], np.uint16))
        concluded += zip(done.subjects.tolist(), done.verdicts.tolist(), strict=True)
    expected: list[tuple[int, str]] = []
    states = [0] * SUBJECTS
    for subject, letter in events:
        before = MONITOR.verdicts[states[subject]]
        states[subject] = MONITOR.next(states[subject], letter)
        if MONITOR.verdicts[states[subject]] != before:
            expected.append((subject, MONITOR.verdicts[states[subject]]))
    assert concluded == expected
    assert columns.verdicts().tolist() == [MONITOR.verdicts[state] for state in states]


@settings(max_examples=150)
@given(timed, st.integers(1, 10))
def test_events_of_one_time_are_one_step(events: list[tuple[int, int, int]], batch: int) -> None:
    columns = Columns(MACHINE, SUBJECTS)
    now, stamped = 0, []
    for subject, pause, bits in events:
        now += pause
        stamped.append((subject, now, bits))
    for start in range(0, len(stamped), batch):
        part = stamped[start : start + batch]
        done = columns.gather(
            column([s for s, _, _ in part], np.uint32),
            column([t for _, t, _ in part], np.int64),
            column([b for _, _, b in part], np.uint16),
        )
        assert done.late == 0
    columns.close(now + 1)
    for subject in range(SUBJECTS):
        state, steps = 0, dict.fromkeys((t for s, t, _ in stamped if s == subject), 0)
        for s, at, bits in stamped:
            if s == subject:
                steps[at] |= bits
        for letter in steps.values():
            state = MONITOR.next(state, letter)
        assert columns.verdicts()[subject] == MONITOR.verdicts[state]


def one(columns: Columns, at: int, bits: int) -> int:
    return columns.gather(column([0], np.uint32), column([at], np.int64), column([bits], np.uint16)).late


def test_an_event_that_comes_after_its_step_makes_the_subject_unknown_and_not_violated() -> None:
    columns = Columns(MACHINE, 1)
    a, b = 1, 2
    assert [one(columns, 10, a), one(columns, 20, 0), one(columns, 15, b)] == [0, 0, 1]
    columns.close(100)
    assert columns.verdicts().tolist() == ["?"]  # without the late event the step at 20 would have violated G(a -> X b)
    columns = Columns(MACHINE, 1)
    assert [one(columns, 10, a), one(columns, 9, b)] == [0, 1]
    assert not MACHINE.known[columns.state[0]]


def test_a_step_that_was_closed_stays_closed() -> None:
    columns = Columns(MACHINE, 1)
    assert one(columns, 10, 1) == 0
    columns.close(11)
    assert one(columns, 10, 2) == 1


def test_lost_events_make_a_subject_unknown() -> None:
    columns = Columns(MACHINE, 2)
    columns.lose(column([1], np.uint32))
    assert [MACHINE.known[state] for state in columns.state] == [True, False]


def test_columns_that_do_not_fit_are_refused() -> None:
    columns = Columns(MACHINE, 2)
    with pytest.raises(ValueError, match="same length"):
        columns.advance(column([0, 1], np.uint32), column([0], np.uint16))
    with pytest.raises(IndexError, match=r"outside 0\.\.1"):
        columns.advance(column([2], np.uint32), column([0], np.uint16))
    with pytest.raises(IndexError, match=r"outside 0\.\.3"):
        columns.advance(column([0], np.uint32), column([4], np.uint16))
    with pytest.raises(ValueError, match="15 propositions"):
        Columns(widened(compiled(" & ".join(f"p{i}" for i in range(16)))), 1)
