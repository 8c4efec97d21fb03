"""Plays the command line of the lab (`describe`, `run`, `resume`) for tests of the runner: its files and exit codes, without a search.

The "command" of a device is its behaviour: words such as `tests=5 pause=0.01 exit=0`. A campaign writes so many tests to its journal, then
its report; `fail=...` ends it with that text on stderr and exit code 2; SIGTERM ends it after the running test, with a report.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

from wallwatch_testing.lab_report import DESCRIPTION, report

stopped = False


def behaviour(command: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in command.split())


def campaign(folder: Path, command: str, options: dict[str, Any], done: int) -> int:
    """Write the tests that are missing, then the report; returns the exit code."""
    wanted = behaviour(command)
    with (folder / "journal.jsonl").open("a", encoding="utf-8") as journal:

        def write(line: dict[str, Any]) -> None:
            journal.write(json.dumps(line) + "\n")
            journal.flush()

        if done < 0:
            write({"kind": "campaign", "version": 1, "dut": command, "describe": DESCRIPTION, "options": options})
            done = 0
        total = int(wanted.get("tests", "3"))
        for n in range(done + 1, total + 1):
            if stopped:
                break
            if wanted.get("crash") == str(n):
                sys.stderr.write("Traceback ...\nRuntimeError: a defect\n")
                return 1
            bad = n % 3 == 0
            write({"kind": "test", "n": n, "phase": "discover", "config": {}, "status": "ok", "symptoms": ["S6"] * bad, "seconds": 0.5})
            time.sleep(float(wanted.get("pause", "0")))
        complete = not stopped and "why" not in wanted
        why = "stopped" if stopped else wanted.get("why", "").replace("_", " ") or None
        write({"kind": "end", "complete": complete, "why": why})
    (folder / "report.json").write_text(json.dumps(report(complete=complete, stopped=why, tests=total)))
    return 0 if complete else 143 if stopped else 3


def main(arguments: list[str]) -> int:
    operation, rest = arguments[0], arguments[1:]

    def stop(*_: object) -> None:
        global stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    if operation == "resume":
        folder = Path(rest[0])
        lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
        done = max((line.get("n", 0) for line in lines), default=0)
        return campaign(folder, lines[0]["dut"], lines[0]["options"], done)
    given = dict(zip(rest[::2], rest[1::2], strict=False))
    command = given["--dut"]
    if "fail" in behaviour(command):
        sys.stderr.write(f"wallwatch lab: {behaviour(command)['fail'].replace('_', ' ')}\n")
        return 2
    if operation == "describe":
        print(json.dumps(DESCRIPTION))
        return 0
    folder = Path(given["--out"])
    folder.mkdir(parents=True, exist_ok=True)
    options = {name.removeprefix("--"): value for name, value in given.items() if name not in ("--dut", "--out", "--json")}
    return campaign(folder, command, options, -1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
