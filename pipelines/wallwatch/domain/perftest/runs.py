"""What was read of the output of `perftest`: runs of a tool, with a row for each message size."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Verb = Literal["send", "write", "read", "atomic"]
Quantity = Literal["bandwidth", "latency"]

_MEGABYTE = 2**20
"""perftest divides by 0x100000 and calls it MB; newer versions print MiB for the same number."""
GBPS = {
    "MB/sec": _MEGABYTE * 8 / 1e9, "MiB/sec": _MEGABYTE * 8 / 1e9, "GB/sec": 2**30 * 8 / 1e9, "GiB/sec": 2**30 * 8 / 1e9,
    "Gb/sec": 1.0, "Mb/sec": 1e-3,
}  # fmt: skip
"""Gbit/s for one of a unit that heads of columns name."""

_TITLE = re.compile(
    r"^\s*(RDMA[_ ](?:Write|Read|Atomic)|Send|Atomic|Write|Read)(?:[_ ](?:with[_ ])?imm)?\b(?P<rest>[\w ()-]*?)\b(BW|Latency|Lat)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One message size of one run; what its table does not have is None."""

    message_bytes: int
    iterations: int | None
    average_gbps: float | None = None
    peak_gbps: float | None = None
    rate_mpps: float | None = None
    average_us: float | None = None
    typical_us: float | None = None
    p99_us: float | None = None


@dataclass(slots=True)
class Run:
    """One run of a tool: its settings and its table."""

    verb: Verb
    quantity: Quantity
    bidirectional: bool = False
    queue_pairs: int | None = None
    mtu: int | None = None
    connection: str | None = None
    rows: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Output:
    """A file: its runs, and each thing in it that could not be used."""

    name: str
    runs: list[Run] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def title_of(line: str) -> tuple[Verb, bool] | None:
    """Verb of a test's title, and whether both directions send; None if the line is not a title.

    >>> title_of("        RDMA_Write Bidirectional BW Test"), title_of("Send Latency Test"), title_of("Link type : Ethernet")
    (('write', True), ('send', False), None)
    """
    found = _TITLE.match(line)
    return None if found is None else (verb_of(found.group(1)), "bidirectional" in found.group("rest").lower())


def verb_of(word: str) -> Verb:
    word = word.lower().removeprefix("rdma").strip("_ ")
    return "send" if word == "send" else "write" if word == "write" else "read" if word == "read" else "atomic"
