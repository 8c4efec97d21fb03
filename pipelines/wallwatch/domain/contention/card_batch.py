"""Predictions for many cards at once, as a placement asks for them: the same as `card.Card` gives one by one.

At a fixed number of flows the logarithm of a function's throughput is a line in the pressure of its competitors, so of each prediction only
the pressure is left to compute, for all cards in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.contention.card import Occupant
from wallwatch.domain.contention.counters import COUNTER_NAMES, NONE
from wallwatch.domain.contention.function_model import COMPETITORS_TIME, FIRST_MEMORY, MATCHES, FunctionModel
from wallwatch.domain.contention.gaussian_process import Array
from wallwatch.domain.contention.round_robin import common_rates

Places = npt.NDArray[np.int64]
_IPC, _INSTRUCTIONS = 0, 1
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class _Use:
    """Use of the accelerator by kind; 0 queues are none."""

    queues: Array
    times: Array


class _Pressures:
    """Pressures of one model by the set of competitors.

    Most sets come again next to another function, and trees cost most of a prediction.
    """

    def __init__(self) -> None:
        self._sets = np.zeros(0, dtype=np.int64)
        self._values = np.zeros(0)

    def of(self, sets: Places, queries: Array, pressure: Callable[[Array], Array]) -> Array:
        """Pressures of sets, shape (rows,); `queries` are what the model takes of them."""
        distinct, first, back = np.unique(sets, return_index=True, return_inverse=True)
        new = ~np.isin(distinct, self._sets, assume_unique=True)
        if new.any():
            together = np.concatenate([self._sets, distinct[new]])
            order = np.argsort(together)
            self._values = np.concatenate([self._values, pressure(queries[first[new]])])[order]
            self._sets = together[order]
        return np.asarray(self._values[np.searchsorted(self._sets, distinct)][back])


class CardBatch:
    """Cards whose functions are of these kinds; each kind has a model and known counters."""

    def __init__(self, kinds: Sequence[Occupant]) -> None:
        models: dict[int, FunctionModel] = {}
        for kind in kinds:
            if kind.model is None:
                raise ValueError(f"{kind.name} has no model")
            models[id(kind.model)] = kind.model
        self._models = list(models.values())
        self._model_of = np.array([list(models).index(id(kind.model)) for kind in kinds])
        self._counters = np.array([NONE if kind.counters is None else kind.counters for kind in kinds], dtype=float)
        ipc, instructions = self._counters[:, _IPC], self._counters[:, _INSTRUCTIONS]
        self._cycles = np.divide(instructions, ipc, out=np.zeros_like(ipc), where=ipc > 0)
        engines = [kind.engine for kind in kinds]
        self._use = _Use(
            np.array([0.0 if one is None else float(one.queues) for one in engines]),
            np.array([0.0 if one is None else one.service_time for one in engines]),
        )
        self._matches = np.array([0.0 if kind.engine is None else kind.traffic.mtbr for kind in kinds])
        self._traffic = np.array([[kind.traffic.flows, kind.traffic.packet_bytes] for kind in kinds])
        self._offered = np.array([kind.offered for kind in kinds])
        lines = [
            kind.model.memory.process.line(np.array([kind.traffic.flows])) if kind.model is not None else (np.zeros(1), np.zeros(1))
            for kind in kinds
        ]
        self._pressures = [_Pressures() for _ in self._models]
        self._level, self._slope = (np.concatenate(parts) for parts in zip(*lines, strict=True))

    def throughput(self, combinations: Places, cautious: bool = False) -> Array:
        """Throughput of each resident, in kpps; residents are places in the list of kinds, shape (cards, residents).

        `cautious` gives the lower end of the interval.
        """
        rows = self._rows(combinations)
        memory = self._memory(combinations, rows)
        rows[:, :, COMPETITORS_TIME] = self._competitors_times(combinations, rows, memory)
        found = np.empty(combinations.shape)
        for at, model in enumerate(self._models):
            mine = self._model_of[combinations] == at
            if mine.any():
                found[mine] = model.predict(rows[mine]).low if cautious else model.composed(rows[mine], memory[mine])
        return found

    def _rows(self, combinations: Places) -> Array:
        """Queries without the competitors' time at the accelerator, shape (cards, residents, 11)."""
        residents = combinations.shape[1]
        rows = np.zeros((*combinations.shape, FIRST_MEMORY + 2 + len(COUNTER_NAMES)))
        rows[:, :, MATCHES] = self._matches[combinations]
        rows[:, :, FIRST_MEMORY : FIRST_MEMORY + 2] = self._traffic[combinations]
        counters, cycles = self._counters[combinations], self._cycles[combinations]
        for at in range(residents):
            others = [other for other in range(residents) if other != at]  # added up rather than subtracted: differences lose digits
            total = counters[:, others].sum(axis=1)
            spent = cycles[:, others].sum(axis=1)
            total[:, _IPC] = np.divide(total[:, _INSTRUCTIONS], spent, out=np.zeros_like(spent), where=spent > 0)
            rows[:, at, FIRST_MEMORY + 2 :] = total
        return rows

    def _memory(self, combinations: Places, rows: Array) -> Array:
        """Throughput of each resident if only memory were contended, without its accelerator."""
        found = np.empty(combinations.shape)
        competitors = self._competitors(combinations)
        for at, model in enumerate(self._models):
            mine = self._model_of[combinations] == at
            if not mine.any():
                continue
            kinds, queries = combinations[mine], rows[mine][:, FIRST_MEMORY:]
            if competitors is None:
                pressure = model.memory.pressure(queries)
            else:
                pressure = self._pressures[at].of(competitors[mine], queries, model.memory.pressure)
            fastest = np.exp(self._level[kinds] + self._slope[kinds] * pressure)
            found[mine] = model.memory.size.slowed(fastest, queries[:, 1])
        return found

    def _competitors(self, combinations: Places) -> Places | None:
        """A number for each set of competitors, shape (cards, residents); None where they are too many for a number each."""
        base, others = len(self._model_of) + 1, combinations.shape[1] - 1
        if base**others > _LARGEST:
            return None
        found = np.empty_like(combinations)
        weights = base ** np.arange(others)
        for at in range(combinations.shape[1]):
            found[:, at] = (np.sort(np.delete(combinations, at, axis=1), axis=1) + 1) @ weights
        return found

    def _competitors_times(self, combinations: Places, rows: Array, memory: Array) -> Array:
        """Time per turn at the accelerator that the others take from each resident, shape (cards, residents)."""
        queues, times = self._use.queues[combinations], self._use.times[combinations]
        found = np.zeros(combinations.shape)
        shared = (queues > 0).sum(axis=1) > 1
        if not shared.any():
            return found
        combinations, rows, memory, queues, times = (part[shared] for part in (combinations, rows, memory, queues, times))
        asked = np.zeros(combinations.shape)
        for at, model in enumerate(self._models):
            mine = (self._model_of[combinations] == at) & (queues > 0)
            if mine.any():
                asked[mine] = np.minimum(model.composed(rows[mine], memory[mine]), self._offered[combinations[mine]])
        wanted = np.divide(asked, queues, out=np.zeros_like(asked), where=queues > 0)
        taken = np.zeros(combinations.shape)
        for at in range(combinations.shape[1]):
            own = wanted.copy()
            own[:, at] = np.inf
            rate = common_rates(queues * times, own)
            user = queues[:, at] > 0
            taken[user, at] = np.maximum(1.0 / rate[user] - queues[user, at] * times[user, at], 0.0)
        found[shared] = taken
        return found
