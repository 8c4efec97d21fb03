"""What is published about retransmission latencies, per model: `transport_figures.yaml`, typed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

Range = tuple[float, float]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VerbFigures(_Frozen):
    """Ranges in microseconds; None where nothing is published."""

    nack_generation_us: Range | None
    nack_reaction_us: Range | None


class TransportFigures(_Frozen):
    """The figures of one model."""

    id: str
    name: str
    source: str = Field(min_length=10)
    write: VerbFigures
    read: VerbFigures


class _Reasoned(_Frozen):
    value: float = Field(gt=1)
    why: str = Field(min_length=10)


class _File(_Frozen):
    slower_factor: _Reasoned
    models: list[TransportFigures]


@cache
def _file() -> _File:
    raw: Any = yaml.safe_load(files(__package__).joinpath("transport_figures.yaml").read_text())
    return _File.model_validate(raw)


def transport_figures() -> dict[str, TransportFigures]:
    """Figures by model id.

    >>> transport_figures()["e810"].read.nack_generation_us
    (83000.0, 83000.0)
    """
    return {row.id: row for row in _file().models}


def slower_factor() -> float:
    """From how many times the published range on a median is called slower."""
    return _file().slower_factor.value
