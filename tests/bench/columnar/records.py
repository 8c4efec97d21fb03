"""From decoded records to verdicts: columns of keys, times and kinds of events in, conclusions of a monitor out.

A key is 128 bits: a flow's ufid, or a digest of any other name. The first record of a key gives its subject a number; a table of open
addressing finds it again, with the keys themselves in one column, so that no two subjects are ever taken for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from tests.bench.columnar.columns import Columns, Concluded

from wallwatch.domain.ltl.gaps import Widened

Keys = NDArray[np.uint64]
"""Shape (records, 2)."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


BLOCK = 1 << 16
"""Records that are coded before they are taken: what was coded is still in the processor's caches then."""


@njit(nogil=True, cache=True)
def _coded(cells, known, count, shift, letters, keys, at, kinds, numbers, times, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Subjects, times and letters of the records that set any; returns how many subjects there are (-1: no room) and how many records."""
    mask = np.uintp(cells.size - 1)
    found = 0
    for i in range(keys.shape[0]):
        letter = letters[kinds[i]]
        if letter == 0:
            continue
        high, low = keys[i, 0], keys[i, 1]
        place = np.uintp(((high ^ low) * _MIX) >> shift)
        while True:
            cell = cells[place]
            if cell == 0:
                if count == known.shape[0]:
                    return -1, found
                known[count, 0], known[count, 1] = high, low
                number = np.uintp(count)
                count += 1
                cells[place] = count
                break
            number = np.uintp(cell - 1)
            if known[number, 0] == high and known[number, 1] == low:
                break
            place = (place + np.uintp(1)) & mask
        numbers[found], times[found], bits[found] = number, at[i], letter
        found += 1
    return count, found


class NoRoom(ValueError):
    """There are more subjects than were asked for."""


@dataclass(frozen=True)
class Verdicts:
    """Keys whose verdict came with this batch, shape (n, 2), and `T` or `F` for each; `late` as in `Concluded`."""

    keys: Keys
    verdicts: NDArray[np.str_]
    late: int


class Records:
    """A monitor over records of up to `most_subjects` subjects.

    Parameters
    ----------
    letters : sequence of int
        For each code of a kind of event the bits of the propositions that it sets; 0: the event is none of the formula's.
    """

    def __init__(self, machine: Widened, letters: Sequence[int], most_subjects: int) -> None:
        size = 1 << max(int(most_subjects * 3 // 2 - 1).bit_length(), 4)
        self._cells = np.zeros(size, dtype=np.uint32)
        self._shift = np.uint64(64 - (size.bit_length() - 1))
        self._known = np.zeros((most_subjects, 2), dtype=np.uint64)
        self._count = 0
        self._letters = np.array(letters, dtype=np.uint16)
        self._columns = Columns(machine, most_subjects)
        self._coded = (np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint16))

    @property
    def subjects(self) -> int:
        """How many there are so far."""
        return self._count

    def take(self, keys: Keys, at: NDArray[np.int64], kinds: NDArray[np.integer[Any]]) -> Verdicts:
        """Take records in the order of each subject; those of one subject and time are one step.

        Parameters
        ----------
        keys : array of shape (records, 2)
        at : array of shape (records,)
            Time, ns since 1970.
        kinds : array of shape (records,)
            Codes, as in `letters`.

        Raises
        ------
        NoRoom
            When a subject too many comes. What came before the block with it has been taken.
        """
        found = [self._block(keys[i : i + BLOCK], at[i : i + BLOCK], kinds[i : i + BLOCK]) for i in range(0, max(at.size, 1), BLOCK)]
        return Verdicts(
            np.concatenate([one.keys for one in found]),
            np.concatenate([one.verdicts for one in found]),
            sum(one.late for one in found),
        )

    def _block(self, keys: Keys, at: NDArray[np.int64], kinds: NDArray[np.integer[Any]]) -> Verdicts:
        numbers, times, bits = self._coded
        count, found = _coded(self._cells, self._known, self._count, self._shift, self._letters, keys, at, kinds, numbers, times, bits)
        if count < 0:
            self._forget_new()
            raise NoRoom(f"there are more than {self._known.shape[0]:,} subjects: ask for more, or divide them")
        self._count = count
        return self._named(self._columns.gather(numbers[:found], times[:found], bits[:found]))

    def close(self, before: int) -> Verdicts:
        """Take the steps that are still open and older than `before` (ns): nothing of their time comes any more."""
        return self._named(self._columns.close(before))

    def _forget_new(self) -> None:
        """The table as it was before the block."""
        known, count = self._known[: self._count].copy(), self._count
        self._cells[:] = 0
        any_letter, kinds, at = np.ones(1, dtype=np.uint16), np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.int64)
        room = (np.empty(count, np.uint32), np.empty(count, np.int64), np.empty(count, np.uint16))
        _coded(self._cells, self._known, 0, self._shift, any_letter, known, at, kinds, *room)

    def _named(self, found: Concluded) -> Verdicts:
        return Verdicts(self._known[found.subjects], found.verdicts, found.late)
