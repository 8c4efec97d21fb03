"""The shape of a message: which fields it has, in which order. Messages of one kind of device all have the same.

A shape is learned from a message that the reference path (`domain/telemetry/decode`, `encode`) has read. `compiled_rows` then reads further
messages of this shape without building a value for each field, and leaves to the reference path whatever differs in any way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.telemetry.registry import Measurement, MetricField
from wallwatch.store.compiled_rows import ANY, BLOCK, EXACT_FLOAT, FLOAT, INT, OTHER_TEXT, TEXT, UNKNOWN_NUMBER

_START = b'{"fields":{'
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of a message in their order, and where each value goes.

    Attributes
    ----------
    names : tuple of str
        Of all fields, also of those that the registry does not have.
    literals : tuple of bytes
        The text before each value: `{"fields":{"a":`, `,"b":` and so on.
    literal_ends : int64 array
        Where each ends, if they stood one after another.
    blocks, masks : uint8 arrays (blocks, BLOCK)
        The same in blocks, and which bytes of a block belong to it.
    block_ends : int64 array
        Where the blocks of each literal end.
    field_names : uint8 array
        The fields' names with quotes and colon, one after another.
    name_ends : int64 array
        Where each of them ends.
    kinds : int64 array
        Kind of each field's value.
    number_fields, text_fields : int64 arrays
        For each column of the table its field, -1 if the message has none.
    other_fields : int64 array
        Fields that go into the column `other`, in the order of the message.
    unknown : int
        How many fields the registry does not have.
    """

    names: tuple[str, ...]
    literals: tuple[bytes, ...]
    literal_ends: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.uint8]
    block_ends: npt.NDArray[np.int64]
    field_names: npt.NDArray[np.uint8]
    name_ends: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    number_fields: npt.NDArray[np.int64]
    text_fields: npt.NDArray[np.int64]
    other_fields: npt.NDArray[np.int64]
    unknown: int

    @classmethod
    def of(cls, fields: Mapping[str, Any], measurement: Measurement) -> Shape | None:
        """The shape of a message with these fields; None if such messages are left to the reference path.

        >>> from wallwatch.domain.telemetry.registry import measurements
        >>> shape = Shape.of({"port_xmit_data": 1, "lifespan": 5}, measurements()["rnic"])
        >>> shape.literals, shape.other_fields.tolist()
        ((b'{"fields":{"port_xmit_data":', b',"lifespan":'), [1])
        >>> Shape.of({"from_the_future": 1}, measurements()["rnic"]) is None
        True
        """
        names = tuple(fields)
        kinds = [_kind(measurement.fields.get(name), fields[name]) for name in names]
        known = [name for name in names if name in measurement.fields]
        if not known or None in kinds or not all(_PLAIN_NAME.fullmatch(name) for name in names):
            return None
        literals = tuple((b"," if i else _START) + b'"%s":' % name.encode() for i, name in enumerate(names))
        return cls._made(names, literals, kinds, [name for name in known if measurement.fields[name].stored == "other"], measurement)

    @classmethod
    def of_rows(cls, names: Sequence[str], measurement: Measurement) -> Shape | None:
        """The shape of a block's rows, whose values stand behind a bracket or comma each; None if they are left to the reference path.

        >>> from wallwatch.domain.telemetry.registry import measurements
        >>> shape = Shape.of_rows(["port_xmit_data", "lifespan", "from_the_future"], measurements()["rnic"])
        >>> shape.literals, shape.kinds.tolist(), shape.unknown
        ((b'[', b',', b','), [0, 0, 6], 1)
        """
        known = [name for name in names if name in measurement.fields]
        kinds = [ANY if name not in measurement.fields else _kind(measurement.fields[name], None) for name in names]
        if not known or None in kinds:
            return None
        others = sorted(name for name in known if measurement.fields[name].stored == "other")  # as single messages have them
        return cls._made(tuple(names), tuple(b"," if i else b"[" for i in range(len(names))), kinds, others, measurement)

    @classmethod
    def _made(
        cls, names: tuple[str, ...], literals: tuple[bytes, ...], kinds: Sequence[int | None], others: list[str], measurement: Measurement
    ) -> Shape:
        field_of = {name: i for i, name in enumerate(names)}
        quoted = [b'"%s":' % name.encode() for name in names]
        columns = measurement.columns
        return cls(
            names,
            literals,
            np.cumsum([len(one) for one in literals], dtype=np.int64),
            _blocks(literals),
            _blocks([b"\xff" * len(one) for one in literals]),
            np.cumsum([-(-len(one) // BLOCK) for one in literals], dtype=np.int64),
            np.frombuffer(b"".join(quoted), dtype=np.uint8),
            np.cumsum([len(one) for one in quoted], dtype=np.int64),
            np.array(kinds, dtype=np.int64),
            np.array([field_of.get(f.name, -1) for f in columns if f.numeric], dtype=np.int64),
            np.array([field_of.get(f.name, -1) for f in columns if not f.numeric], dtype=np.int64),
            np.array([field_of[name] for name in others], dtype=np.int64),
            len(names) - sum(name in measurement.fields for name in names),
        )


def _kind(known: MetricField | None, value: object) -> int | None:
    """The kind of a field's values; None for those that only the reference path reads."""
    if known is None:
        if isinstance(value, bool):
            return None
        return UNKNOWN_NUMBER if isinstance(value, (int, float)) else OTHER_TEXT if isinstance(value, str) else None
    as_json = known.stored == "other"
    return {"int": INT, "float": EXACT_FLOAT if as_json else FLOAT, "text": OTHER_TEXT if as_json else TEXT}.get(known.type)


def _blocks(literals: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    padded = b"".join(one.ljust(-(-len(one) // BLOCK) * BLOCK, b"\0") for one in literals)
    return np.frombuffer(padded, dtype=np.uint8).reshape(-1, BLOCK)
