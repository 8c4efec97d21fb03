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
from wallwatch.store.compiled_rows import BLOCK, EXACT_FLOAT, FLOAT, INT, OTHER_TEXT, TEXT, UNKNOWN_NUMBER

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
    name_lengths : int64 array
        Length of each field's name with quotes and colon.
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
    name_lengths: npt.NDArray[np.int64]
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
        field_of = {name: i for i, name in enumerate(names)}
        columns = measurement.columns
        return cls(
            names,
            literals,
            np.cumsum([len(one) for one in literals], dtype=np.int64),
            _blocks(literals),
            _blocks([b"\xff" * len(one) for one in literals]),
            np.cumsum([-(-len(one) // BLOCK) for one in literals], dtype=np.int64),
            np.array([len(name) + 3 for name in names], dtype=np.int64),
            np.array(kinds, dtype=np.int64),
            np.array([field_of.get(f.name, -1) for f in columns if f.numeric], dtype=np.int64),
            np.array([field_of.get(f.name, -1) for f in columns if not f.numeric], dtype=np.int64),
            np.array([field_of[name] for name in known if measurement.fields[name].stored == "other"], dtype=np.int64),
            len(names) - len(known),
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
