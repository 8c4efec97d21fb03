"""The committed ledger, and the comparison with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.ledger.paired import Paired

FILE = Path(__file__).with_name("ledger.json")
LEAST_ALLOWED = 0.15
"""Another processor, with other caches, moves a ratio by some percent."""
SPREADS_ALLOWED = 4


@dataclass(frozen=True)
class Entry:
    """What one benchmark cost when the ledger was written."""

    ratio: float
    allowed: float
    """How much worse it may become, relative to the ratio, before it counts as a loss."""
    work_us: float
    """Of the machine that wrote the ledger; only the ratio is compared."""
    reference_us: float
    reference: str

    @classmethod
    def of(cls, paired: Paired, reference: str) -> Entry:
        """An entry of what was measured now."""
        allowed = max(LEAST_ALLOWED, SPREADS_ALLOWED * paired.spread)
        return cls(round(paired.ratio, 2), round(allowed, 2), round(paired.work_us, 1), round(paired.reference_us, 1), reference)


def read(file: Path = FILE) -> dict[str, Entry]:
    """The ledger by name of benchmark."""
    return {name: Entry(**entry) for name, entry in json.loads(file.read_text()).items()}


def write(entries: Mapping[str, Entry], file: Path = FILE) -> None:
    """Write the ledger, sorted by name."""
    file.write_text(json.dumps({name: asdict(entries[name]) for name in sorted(entries)}, indent=2) + "\n")


def is_loss(entry: Entry, paired: Paired) -> bool:
    """Whether three of four rounds are worse than the ledger allows: a few disturbed rounds are no loss, and a few lucky ones hide none.

    >>> entry = Entry(ratio=2.0, allowed=0.15, work_us=2, reference_us=1, reference="the same, bare")
    >>> is_loss(entry, Paired((2.0, 2.1, 2.2, 9.0, 2.0), 2, 1)), is_loss(entry, Paired((2.5, 2.6, 2.4, 1.9, 2.5), 2.5, 1))
    (False, True)
    """
    most = entry.ratio * (1 + entry.allowed)
    return sum(ratio > most for ratio in paired.ratios) >= 0.75 * len(paired.ratios)
