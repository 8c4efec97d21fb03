"""Behaviours B1 to B8 of transport engines, and pairs of counters that contradict each other, as typed values."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from wallwatch.domain.catalogue.models import Detected, Entry

PEERS = "peers."
"""Prefix of a counter that is not the RNIC's own: the sum over those that send to it."""


class Variant(Entry):
    """A card that behaves unlike the others of its profile."""

    profile: str
    pci_ids: tuple[str, ...]
    hca_types: tuple[str, ...]


class Contradiction(Entry):
    """A cause and an effect: when the first counter grows, the second one must.

    Of several counters, the sum of those that the RNIC has counts: drivers have names of their own. The pair is a
    signal of its own name: by how much the cause has grown while the effect stood still.
    """

    label: str
    unit: str
    meaning: str
    cause: tuple[str, ...] = Field(min_length=1)
    effect: tuple[str, ...] = Field(min_length=1)
    window_s: int = Field(gt=0, le=600)
    delay_s: float = Field(ge=0)
    """How long the effect may take."""
    tolerance: float = Field(ge=0, lt=1)
    """The effect stands still while it grows by no more than this share of its cause."""
    models: tuple[str, ...] = ()
    """Variants or profiles that are judged; empty means all."""
    why: str = Field(min_length=1)
    """The reason of its window, delay, tolerance and models."""

    @model_validator(mode="after")
    def _effect_is_own(self) -> Contradiction:
        if any(name.startswith(PEERS) for name in self.effect):
            raise ValueError("effect: must be a counter of the RNIC itself, since nobody knows which of its peers' it would be")
        if self.delay_s >= self.window_s:
            raise ValueError("delay_s must be shorter than window_s")
        return self


class KnownOn(Entry):
    """A model that is known for a behaviour."""

    model: str
    """A variant or a profile."""
    firmware: str = "all that were measured"
    figures: str
    source: str


class Interoperability(Entry):
    """Senders and receivers that are known not to get on."""

    senders: tuple[str, ...] = Field(min_length=1)
    receivers: tuple[str, ...] = Field(min_length=1)


class Behaviour(Detected):
    """What a transport engine does that its counters deny, or that the specification does not allow."""

    id: str = Field(pattern=r"^B[1-8]$")
    seen_in: Literal["telemetry", "captures"]
    """Captures: no counter shows it, so it has no definition."""
    known_on: tuple[KnownOn, ...]
    applies_to: tuple[str, ...] = ()
    """Variants or profiles on which the definition is judged; empty means all."""
    interoperability: Interoperability | None = None
    confirmed_by: tuple[str, ...] = ()
    """Signals of the definition of which one must hold, or the finding says that it is only suspected."""
    advice: str
    """What to do about it, where no remedy changes it."""
    ticket: str
    """Text for a ticket at the vendor."""

    @model_validator(mode="after")
    def _defined_where_telemetry_shows_it(self) -> Behaviour:
        if (self.definition is not None) != (self.seen_in == "telemetry"):
            raise ValueError("a behaviour that telemetry shows needs a definition, and one that only captures show has none")
        return self
