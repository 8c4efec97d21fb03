"""Kills `wallwatch lab` with SIGKILL at random places until it has died KILLS times; prints what it saw as JSON.

`killed.py DEVICE FOLDER KILLS SEED`. The command runs in forked children, so that modules are loaded once.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from wallwatch.cli.lab import app
from wallwatch.domain.lab import search
from wallwatch.lab import campaign

PATIENCE_S = 60.0
PARALLEL = ("1", "3")
MOST_KILLS = 10
"""Of one campaign, so that there are several, in turn with one process and with three."""


def started(arguments: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        app(arguments)
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(99)


def lines(journal: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return journal.read_bytes().count(b"\n")
    return 0


def killed(pid: int, journal: Path, enough: int, pause_s: float) -> int | None:
    """Kill the process when the journal has enough lines. None if it was killed, else its exit code."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and lines(journal) < enough:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    time.sleep(pause_s)
    os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if code == -signal.SIGKILL else code


def main() -> None:
    device, folder, wanted, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    kills, campaigns = 0, []
    while kills < wanted:
        place = folder / f"campaign-{len(campaigns)}"
        journal = place / "journal.jsonl"
        os.environ["DUT_LEDGER"] = str(folder / f"ledger-{len(campaigns)}")
        code, here = None, 0
        parallel = ["--parallel", PARALLEL[len(campaigns) % 2]]
        while code is None:
            arguments = ["resume", str(place)] if journal.exists() else ["run", "--dut", device, "--out", str(place), *parallel]
            pid = started(arguments)
            if kills < wanted and here < MOST_KILLS:
                code = killed(pid, journal, lines(journal) + rng.randrange(5), rng.random() * 0.004)
            else:
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            kills += code is None
            here += code is None
        campaigns.append({"code": code, "kills": here})
    print(json.dumps({"kills": kills, "campaigns": campaigns}))


if __name__ == "__main__":
    assert search
    assert campaign
    main()
