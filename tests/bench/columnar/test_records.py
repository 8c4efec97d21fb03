"""From records to verdicts: the same as a loop over single records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bench.columnar import records
from tests.bench.columnar.records import NoRoom, Records

from wallwatch.domain.ltl.gaps import Widened, widened
from wallwatch.domain.ltl.monitor import compiled

MACHINE = widened(compiled("G(O -> X C) & (!C U O)"))
LETTERS = [MACHINE.letter(frozenset(names)) for names in ([], ["O"], ["C"])]
KEYS = [(7, 1), (1, 7), (2**64 - 1, 0), (0, 0), (7, 7)]
"""Some of them begin at the same place of the table."""


def columns(story: list[tuple[int, int, int]]) -> tuple[Any, Any, Any]:
    keys = np.array([KEYS[key] for key, _, _ in story], dtype=np.uint64).reshape(-1, 2)
    return keys, np.array([at for _, at, _ in story], dtype=np.int64), np.array([kind for _, _, kind in story], dtype=np.uint8)


def naive(machine: Widened, story: list[tuple[int, int, int]]) -> tuple[list[tuple[int, str]], int]:
    """Conclusions as (key, verdict), and late records."""
    states: dict[int, int] = {}
    steps: dict[int, tuple[int, int]] = {}
    found: list[tuple[int, str]] = []
    late = 0

    def close(key: int) -> None:
        old = states.get(key, 0)
        states[key] = machine.table[old][steps[key][1]]
        if machine.verdicts[states[key]] != "?" and machine.verdicts[old] == "?":
            found.append((key, machine.verdicts[states[key]]))

    for key, at, kind in story:
        if not LETTERS[kind]:
            continue
        if key in steps and at < steps[key][0]:
            states[key] = machine.gap[states.get(key, 0)]
            late += 1
        elif key in steps and at == steps[key][0]:
            steps[key] = (at, steps[key][1] | LETTERS[kind])
        else:
            if key in steps:
                close(key)
            steps[key] = (at, LETTERS[kind])
    for key in steps:
        close(key)
    return found, late


STORY = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12), st.integers(0, 2)), max_size=60)


@given(STORY, st.integers(1, 60), st.sampled_from([1, 3, 1 << 16]))
def test_records_in_batches_and_blocks_of_any_size_say_what_single_ones_say(
    story: list[tuple[int, int, int]], batch: int, block: int
) -> None:
    runner, concluded, late = Records(MACHINE, LETTERS, len(KEYS)), [], 0
    before, records.BLOCK = records.BLOCK, block
    try:
        for begin in range(0, len(story), batch):
            found = runner.take(*columns(story[begin : begin + batch]))
            concluded += list(zip(map(tuple, found.keys.tolist()), found.verdicts.tolist(), strict=True))
            late += found.late
    finally:
        records.BLOCK = before
    last = runner.close(100)
    concluded += list(zip(map(tuple, last.keys.tolist()), last.verdicts.tolist(), strict=True))
    wanted, wanted_late = naive(MACHINE, story)
    assert sorted(concluded) == sorted((KEYS[key], verdict) for key, verdict in wanted)
    assert late == wanted_late
    assert runner.subjects == len({key for key, _, kind in story if LETTERS[kind]})


def test_a_subject_too_many_is_refused_and_those_before_go_on() -> None:
    runner = Records(MACHINE, LETTERS, 2)
    runner.take(*columns([(0, 1, 1), (1, 1, 1)]))
    with pytest.raises(NoRoom, match="more than 2 subjects"):
        runner.take(*columns([(0, 2, 2), (2, 2, 1)]))
    assert runner.subjects == 2
    runner.take(*columns([(1, 2, 1), (0, 2, 2)]))
    found = runner.close(10)
    assert (found.keys.tolist(), found.verdicts.tolist()) == ([[1, 7]], ["F"])
