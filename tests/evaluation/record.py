"""Record many scenarios with `fleetsim record`, several in parallel. Existing recordings are reused, so an interrupted run can continue."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.evaluation.draw import Drawn

SLOWEST_S = 3600


class CannotRecord(Exception):
    """`fleetsim record` has failed; the message is its output."""


def is_there(folder: Path, drawn: Drawn) -> bool:
    """Whether exactly this scenario has been recorded completely."""
    file = folder / "run.json"
    if not file.is_file():
        return False
    try:
        run = json.loads(file.read_text())
    except json.JSONDecodeError:
        return False
    wanted = (True, drawn.text, drawn.interval_s, drawn.length_s)
    return (run.get("complete"), run.get("scenario_text"), run.get("interval_s"), run.get("length_s")) == wanted


def record(fleetsim: Path, drawn: Drawn, folder: Path, policies: Path | None = None) -> None:
    """Record one scenario, with compiled policies if a file of them is given.

    Raises
    ------
    CannotRecord
        With the output of fleetsim.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario = folder / "scenario.yaml"
    scenario.write_text(drawn.text)
    command: list[str | Path] = [fleetsim, "record", "--scenario", scenario, "--out", folder, "--overwrite"]
    command += ["--for", f"{drawn.length_s}s", "--interval", f"{drawn.interval_s}s"]
    if policies is not None:
        command += ["--policies", policies]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    if ended.returncode != 0:
        raise CannotRecord(f"{drawn.name}: fleetsim record ended with {ended.returncode}: {ended.stderr[-2000:]}")


def record_all(fleetsim: Path, wanted: Sequence[Drawn], parent: Path, processes: int, fresh: bool = False) -> list[Path]:
    """Record missing scenarios and return all folders. Progress goes to standard error.

    Raises
    ------
    CannotRecord
        After all others have been recorded.
    """
    folders = [parent / drawn.name for drawn in wanted]
    missing = [(drawn, folder) for drawn, folder in zip(wanted, folders, strict=True) if fresh or not is_there(folder, drawn)]
    began, done, lock = time.monotonic(), 0, threading.Lock()
    failures: list[str] = []

    def one(job: tuple[Drawn, Path]) -> None:
        nonlocal done
        drawn, folder = job
        try:
            record(fleetsim, drawn, folder)
        except (CannotRecord, subprocess.TimeoutExpired) as error:
            failures.append(str(error))
        with lock:
            done += 1
            took = time.monotonic() - began
            left = took / done * (len(missing) - done)
            print(f"{parent.name}: {done} of {len(missing)} recorded ({drawn.name}), {left:.0f} s left", file=sys.stderr)

    print(f"{parent.name}: {len(folders) - len(missing)} of {len(folders)} recordings are there", file=sys.stderr)
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(one, missing))
    if failures:
        raise CannotRecord("\n".join(failures))
    return folders
