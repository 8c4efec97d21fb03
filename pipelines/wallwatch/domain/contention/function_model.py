"""A trained model of one network function: memory subsystem, accelerator and how they compose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wallwatch.domain.contention import memory_model
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.gaussian_process import Array
from wallwatch.domain.contention.inference import EngineProfile, NotIdentifiable, line
from wallwatch.domain.contention.memory_model import MemoryModel
from wallwatch.domain.contention.profile_columns import MEMORY_PROFILE

MATCHES, COMPETITORS_TIME = 0, 1
"""Columns of a query; those of a memory profile without its throughput follow."""
FIRST_MEMORY = 2
FORMAT = 1
_ENGINE_ERROR = 0.013
"""Of the queue model itself (Yala, section 4.1.1)."""
_WIDENED = 2.0
"""Intervals outside of the training range: the model has no data there, so this is a warning rather than a guarantee."""
_SLACK = 0.05
"""Share of the training range by which a value may leave it."""
_FEWEST_ROWS = 10


class BadModel(ValueError):
    """A model file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """For each row, throughput in kpps; all arrays have the shape (rows,)."""

    throughput: Array
    low: Array
    high: Array
    memory: Array
    """If only the memory subsystem were contended."""
    engine: Array
    """If only the accelerator bound; infinite without one."""
    outside: tuple[tuple[str, ...], ...]
    """Names of the columns that leave the training range."""


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """`ranges` maps columns to the smallest and the largest value seen in training."""

    name: str
    memory: MemoryModel
    engine: EngineProfile | None
    pattern: Pattern
    ranges: Mapping[str, tuple[float, float]]
    data: Mapping[str, str] = field(default_factory=dict)
    """File -> SHA-256 of the profiles."""
    seed: int = 0

    def predict(self, rows: Array, confidence: float = 0.9) -> Predictions:
        """Predict rows of 11 columns: matches per MB, sum of the competitors' times (1/kpps), flows, packet size, seven counters.

        Raises
        ------
        ValueError
            When rows have matches or competitors at the engine, and the model has no accelerator.
        """
        queries = rows[:, FIRST_MEMORY:]
        memory = self.memory.predict(queries)
        width = self.memory.half_width(queries, confidence)
        engine, engine_width = self._engine(rows), self.memory.noise_half_width(confidence) + _ENGINE_ERROR
        outside = self._outside(rows)
        widening = np.where([bool(names) for names in outside], _WIDENED, 1.0)
        low = self._composed(rows, memory * np.exp(-width * widening), engine * np.exp(-engine_width * widening))
        high = self._composed(rows, memory * np.exp(width * widening), engine * np.exp(engine_width * widening))
        return Predictions(self._composed(rows, memory, engine), low, high, memory, engine, outside)

    def throughput(self, rows: Array) -> Array:
        """The prediction without its interval, which costs more than the prediction; shape (rows,)."""
        return self._composed(rows, self.memory.predict(rows[:, FIRST_MEMORY:]), self._engine(rows))

    def composed(self, rows: Array, memory: Array) -> Array:
        """The prediction, given the throughput if only memory were contended; shape (rows,)."""
        return self._composed(rows, memory, self._engine(rows))

    def alone(self, rows: Array) -> Array:
        """Throughput for the same traffic without any competitor, shape (rows,)."""
        quiet = rows.copy()
        quiet[:, COMPETITORS_TIME] = 0.0
        quiet[:, FIRST_MEMORY + memory_model.IPC :] = 0.0
        return self._composed(quiet, self.memory.predict(quiet[:, FIRST_MEMORY:]), self._engine(quiet))

    def only_memory_contended(self, rows: Array) -> Array:
        """Throughput with the competitors' counters, but none of them at the accelerator, shape (rows,)."""
        quiet = rows.copy()
        quiet[:, COMPETITORS_TIME] = 0.0
        return self._composed(quiet, self.memory.predict(quiet[:, FIRST_MEMORY:]), self._engine(quiet))

    def only_engine_contended(self, rows: Array) -> Array:
        """Throughput with the competitors at the accelerator, but without their memory accesses, shape (rows,)."""
        quiet = rows.copy()
        quiet[:, FIRST_MEMORY + memory_model.IPC :] = 0.0
        return self._composed(quiet, self.memory.predict(quiet[:, FIRST_MEMORY:]), self._engine(quiet))

    def _engine(self, rows: Array) -> Array:
        if self.engine is None:
            if rows[:, COMPETITORS_TIME].any() or rows[:, MATCHES].any():
                raise ValueError("the model has no accelerator: train it with a profile of the engine (a file *reg_train)")
            return np.full(len(rows), np.inf)
        own = self.engine.t0 + self._own_matches(rows)
        return np.asarray(self.engine.queues / (self.engine.queues * own + rows[:, COMPETITORS_TIME]))

    def _composed(self, rows: Array, memory: Array, engine: Array) -> Array:
        if self.pattern is Pattern.PIPELINE:
            return np.minimum(memory, engine)
        if self.engine is None:
            return memory
        # composition.run_to_completion with what is added at the engine. `nf profile` measures memory without matches; of other profiles
        # nobody knows how many there were, so theirs are taken to be those of the query.
        own = 0.0 if self.engine.packet_bytes is None else self._own_matches(rows)
        return np.asarray(1.0 / (1.0 / memory + (own + rows[:, COMPETITORS_TIME]) / self.engine.queues))

    def _own_matches(self, rows: Array) -> Array:
        """Time at the engine that the matches of the function's own packets add, shape (rows,)."""
        if self.engine is None:
            return np.zeros(len(rows))
        scale = 1.0 if self.engine.packet_bytes is None else rows[:, FIRST_MEMORY + memory_model.PACKET_BYTES] / self.engine.packet_bytes
        return np.asarray(self.engine.a * scale * rows[:, MATCHES])

    def _outside(self, rows: Array) -> tuple[tuple[str, ...], ...]:
        found: list[list[str]] = [[] for _ in rows]
        for at, column in enumerate(MEMORY_PROFILE[:-1], FIRST_MEMORY):
            low, high = self.ranges[column.name]
            slack = _SLACK * (high - low) + 1e-9 * abs(high)
            values = rows[:, at]
            beyond = (values < low - slack) | (values > high + slack)
            if column.zero_allowed:
                beyond &= values != 0
            for row in np.flatnonzero(beyond):
                found[row].append(column.name)
        return tuple(tuple(names) for names in found)

    def as_json(self) -> dict[str, Any]:
        engine = None if self.engine is None else {name: getattr(self.engine, name) for name in EngineProfile.__slots__}
        body: dict[str, Any] = {
            "format": FORMAT,
            "function": self.name,
            "pattern": self.pattern.value,
            "engine": engine,
            "ranges": {name: list(limits) for name, limits in self.ranges.items()},
            "data": dict(self.data),
            "seed": self.seed,
            "memory": self.memory.as_json(),
        }
        return {**body, "sha256": _digest(body)}

    @classmethod
    def from_json(cls, body: object) -> FunctionModel:
        """Read a model back.

        Raises
        ------
        BadModel
            When it is damaged, or of another format.
        """
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise BadModel("this is not a model of `wallwatch nf train`, or of another version: train again")
        content = {name: value for name, value in body.items() if name != "sha256"}
        if body.get("sha256") != _digest(content):
            raise BadModel("the model's content does not match its hash: it is damaged; restore it or train again")
        engine = None if body["engine"] is None else EngineProfile(**body["engine"])
        ranges = {name: (float(low), float(high)) for name, (low, high) in body["ranges"].items()}
        memory = MemoryModel.from_json(body["memory"])
        return cls(body["function"], memory, engine, Pattern(body["pattern"]), ranges, body["data"], body["seed"])


def train(
    name: str,
    rows: Array,
    engine_rows: Array | None = None,
    reference: Array | None = None,
    pattern: Pattern = Pattern.PIPELINE,
    data: Mapping[str, str] | None = None,
    seed: int = 0,
) -> FunctionModel:
    """Train on rows of a memory profile (10 columns), an engine profile (2 or 4 columns) and rows at one number of flows (10 columns).

    Raises
    ------
    ValueError
        When the rows are too few, do not vary, or do not fit together.
    """
    if len(rows) < _FEWEST_ROWS:
        raise ValueError(f"the memory profile has {len(rows)} rows; at least {_FEWEST_ROWS} are required")
    if reference is not None and len(np.unique(reference[:, memory_model.FLOWS])) > 1:
        raise ValueError("the reference profile must have one number of flows in all rows")
    engine = None
    if engine_rows is not None:
        queues, packet_bytes = _queues_and_size(engine_rows)
        try:
            t0, a, t0_error, a_error = line([(float(m), float(t)) for m, t in engine_rows[:, :2]])
        except NotIdentifiable as problem:
            raise ValueError(f"the engine profile cannot be used: {problem}") from None
        if t0 <= 0 or a < 0:
            raise ValueError(
                f"the engine profile gives t0 = {t0:g} and a = {a:g}: time per packet must grow with matches, from a positive t0"
            )
        engine = EngineProfile(queues, t0, a, t0_error, a_error, packet_bytes=packet_bytes)
    seen = rows if reference is None else np.vstack([rows, reference])
    ranges = {column.name: (float(seen[:, at].min()), float(seen[:, at].max())) for at, column in enumerate(MEMORY_PROFILE[:-1])}
    return FunctionModel(name, memory_model.train(rows, reference, seed), engine, pattern, ranges, dict(data or {}), seed)


def _queues_and_size(rows: Array) -> tuple[int, float | None]:
    """Queues at the engine and the packet size of its profile, which have columns of their own or are one and unknown."""
    if rows.shape[1] == 2:
        return 1, None
    if len(np.unique(rows[:, 2:], axis=0)) > 1 or rows[0, 2] % 1:
        raise ValueError("the engine profile must have one whole number of queues and one packet size in all rows")
    return int(rows[0, 2]), float(rows[0, 3])


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
