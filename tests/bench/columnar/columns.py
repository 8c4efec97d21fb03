"""A monitor over columns of events, at the speed of memory: one state entry per subject, one table lookup per event.

A batch may hold several events of one subject and their order matters, so `state[subject] = table[state[subject], letter]` on whole
columns would be wrong: it reads every state before it writes any. The loops here take event by event and are compiled by numba.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wallwatch.domain.ltl.gaps import Widened

Subjects = NDArray[np.uint32]
Letters = NDArray[np.uint16]
Times = NDArray[np.int64]

OPEN = np.uint16(0x8000)
"""Bit of a gathered step that says that it has not been taken yet; so a machine has 15 propositions at most."""
LETTER = np.uint16(0x7FFF)


@njit(nogil=True, cache=True)
def _advance(table, shift, first_final, state, subject, letter, concluded):  # type: ignore[no-untyped-def]  # pragma: no cover
    # Unsigned indices throughout: numba would test signed ones for being negative, at twice the time.
    count = 0
    for i in range(subject.size):
        s = np.uintp(subject[i])
        old = state[s]
        new = table[(np.uintp(old) << shift) | np.uintp(letter[i])]
        state[s] = new
        if new >= first_final and old < first_final:
            concluded[count] = i
            count += 1
    return count


@njit(nogil=True, cache=True)
def _gather(  # type: ignore[no-untyped-def]  # pragma: no cover
    table, gap, shift, first_final, state, step_at, step, subject, at, bits, concluded
):
    count = late = 0
    for i in range(subject.size):
        s = np.uintp(subject[i])
        is_open = step[s] & OPEN
        if at[i] == step_at[s] and is_open:
            step[s] |= bits[i]
            continue
        old = state[s]
        if at[i] <= step_at[s]:
            # Its step has been taken without it, so the state after it is unknown.
            state[s] = gap[np.uintp(old)]
            late += 1
            continue
        if is_open:
            new = table[(np.uintp(old) << shift) | np.uintp(step[s] & LETTER)]
            state[s] = new
            if new >= first_final and old < first_final:
                concluded[count] = i
                count += 1
        step_at[s] = at[i]
        step[s] = bits[i] | OPEN
    return count, late


@njit(nogil=True, cache=True)
def _close(table, shift, first_final, state, step_at, step, before, concluded):  # type: ignore[no-untyped-def]  # pragma: no cover
    count = 0
    for s in range(state.size):
        if step[s] & OPEN and step_at[s] < before:
            old = state[s]
            new = table[(np.uintp(old) << shift) | np.uintp(step[s] & LETTER)]
            state[s] = new
            step[s] = 0
            if new >= first_final and old < first_final:
                concluded[count] = s
                count += 1
    return count


@dataclass(frozen=True)
class Concluded:
    """Subjects whose verdict came with this batch; `verdicts` holds `T` or `F` for each."""

    subjects: NDArray[np.integer[Any]]
    verdicts: NDArray[np.str_]
    late: int = 0
    """Events that arrived after a later step of their subject started; the subject's state is unknown until later events determine it."""


class Columns:
    """The states of `subjects` subjects under one widened monitor. Subjects are numbers from 0.

    A step of a subject is all its events of one time: their propositions hold together. It is taken when an event of a later time
    comes, or when `close` declares that time complete.
    """

    def __init__(self, machine: Widened, subjects: int) -> None:
        if len(machine.propositions) > 15:
            raise ValueError(f"15 propositions are the most, not {len(machine.propositions)}")
        small = len(machine.verdicts) <= 256
        self._machine = machine
        self._number = np.uint8 if small else np.uint16
        self._shift = np.uintp(len(machine.propositions))
        self._table = np.array(machine.table, dtype=self._number).reshape(-1)
        self._gap = np.array(machine.gap, dtype=self._number)
        self._verdicts = np.array(machine.verdicts)
        self.state = np.zeros(subjects, dtype=self._number)
        self._step_at = np.full(subjects, -1, dtype=np.int64)
        self._step = np.zeros(subjects, dtype=np.uint16)

    def advance(self, subject: Subjects, letter: Letters) -> Concluded:
        """Take one step for each event, in order: events are coded letters already, each a step of its own.

        Parameters
        ----------
        subject, letter : arrays of shape (events,)
        """
        self._check(subject, letter)
        concluded = np.empty(subject.size, dtype=np.int64)
        count = _advance(self._table, self._shift, self._machine.first_final, self.state, subject, letter, concluded)
        return self._concluded(subject[concluded[:count]])

    def gather(self, subject: Subjects, at: Times, propositions: Letters) -> Concluded:
        """Take events with their times (ns since 1970, not negative); those of one subject and time become one step.

        Parameters
        ----------
        subject, at, propositions : arrays of shape (events,); `propositions` are bits that hold because of the event
        """
        self._check(subject, propositions)
        concluded = np.empty(subject.size, dtype=np.int64)
        count, late = _gather(
            self._table,
            self._gap,
            self._shift,
            self._machine.first_final,
            self.state,
            self._step_at,
            self._step,
            subject,
            at,
            propositions,
            concluded,
        )
        return self._concluded(subject[concluded[:count]], late)

    def close(self, before: int) -> Concluded:
        """Take the steps that are still open and older than `before` (ns): nothing of their time comes any more."""
        concluded = np.empty(self.state.size, dtype=np.int64)
        first_final = self._machine.first_final
        count = _close(self._table, self._shift, first_final, self.state, self._step_at, self._step, before, concluded)
        return self._concluded(concluded[:count])

    def lose(self, subject: Subjects) -> None:
        """Say that events of these subjects were lost."""
        self.state[subject] = self._gap[self.state[subject]]

    def verdicts(self) -> NDArray[np.str_]:
        """`T`, `F` or `?` of every subject."""
        found: NDArray[np.str_] = self._verdicts[self.state]
        return found

    def _concluded(self, subjects: NDArray[np.integer[Any]], late: int = 0) -> Concluded:
        return Concluded(subjects, self._verdicts[self.state[subjects]], late)

    def _check(self, subject: Subjects, letter: Letters) -> None:
        if subject.shape != letter.shape or subject.ndim != 1:
            raise ValueError(f"columns must have the same length, not the shapes {subject.shape} and {letter.shape}")
        if subject.size and int(subject.max()) >= self.state.size:
            raise IndexError(f"a subject is outside 0..{self.state.size - 1}")
        if letter.size and int(letter.max()) >> int(self._shift):
            raise IndexError(f"a letter is outside 0..{(1 << int(self._shift)) - 1}")
