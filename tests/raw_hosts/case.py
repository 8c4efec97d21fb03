"""What a case is: one host over some minutes, and what is right to find on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.raw_hosts.flow_table import Settings
from tests.raw_hosts.host import Host
from tests.raw_hosts.releases import OVS_3_3, Release

END = float("inf")
"""The time at which a symptom ends that does not end before its case."""


@dataclass(frozen=True)
class Expected:
    """A symptom that is there. Times in s since the case began."""

    symptom: str
    from_s: float = 0.0
    """When it can be seen first."""
    causes: tuple[str, ...] = ()
    """Any of these may be ranked first; empty: whichever."""
    until_s: float | None = None
    """When it ends (`END`: not before the case does). None: it shows in events, or now and then, so that its end is not judged."""
    pci: str = ""
    """The RNIC that it must be about; empty: whichever."""
    by_s: float = 120.0
    """How long after `from_s` it may be raised at the latest."""


@dataclass(frozen=True)
class Case:
    """One host."""

    name: str
    make: Callable[[Host], None]
    expected: tuple[Expected, ...] = ()
    tolerated: tuple[str, ...] = ()
    """Symptoms that one may raise or not: the mechanism and the paper decide neither way."""
    length_s: float = 150.0
    interval_s: float = 1.0
    jitter_s: float = 0.2
    warm_s: float = 40.0
    """How long the host has lived before the collector starts."""
    seed: int = 1
    settings: Callable[[], Settings] = field(default=Settings)
    release: Release = OVS_3_3
    quick: bool = False
    """Belongs to the selection that the tests run."""

    @property
    def healthy(self) -> bool:
        """Whether nothing should be found."""
        return not self.expected
