"""CPU and memory of everything that this process started, by role."""

import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.processes import PAGE_BYTES, TICKS_PER_S

Role = Callable[[str], str | None]
"""From a command line to the role in the system, or None for what belongs to its parent's."""


@dataclass
class Share:
    """CPU seconds so far, ended children included, and resident memory now."""

    cpu_s: float = 0.0
    rss_mb: float = 0.0


def by_role(role: Role, root: int | None = None) -> dict[str, Share]:
    """Sum over the descendants of `root` (this process); processes that share pages count them each."""
    children: dict[int, list[int]] = defaultdict(list)
    fields: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has ended
            fields[int(entry.name)] = text
            children[int(text[1])].append(int(entry.name))
    shares: dict[str, Share] = defaultdict(Share)
    waiting = [(pid, "others") for pid in children[root or os.getpid()]]
    while waiting:
        pid, of_parent = waiting.pop()
        own = role(_command(pid)) or of_parent
        shares[own].cpu_s += sum(int(value) for value in fields[pid][11:15]) / TICKS_PER_S
        shares[own].rss_mb += int(fields[pid][21]) * PAGE_BYTES / 1e6
        waiting += [(child, own) for child in children[pid]]
    return dict(shares)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
