"""CPU and memory of a process, from /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """CPU seconds so far and resident memory now and at its highest, all threads."""

    cpu_s: float
    rss_mb: float
    peak_rss_mb: float


def usage(pid: int) -> Usage:
    """Usage of one process, without its children."""
    # The name in parentheses may hold spaces; the numbers follow it.
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return Usage(cpu_s, int(fields[21]) * PAGE_BYTES / 1e6, int(status["VmHWM"].split()[0]) * 1024 / 1e6)
