"""One campaign as a process of its own: `wallwatch lab run` or `resume` in a folder, its journal followed line by line.

The search runs in a separate process, so that neither a crash of it nor of the device takes the runner with it. Everything that the runner
knows of a campaign comes from the two files that the command line writes: journal.jsonl and report.json.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wallwatch.store.lab import CampaignState

JOURNAL, REPORT, ERRORS = "journal.jsonl", "report.json", "stderr.txt"
PROGRAM = (sys.executable, "-c", "from wallwatch.cli.main import app; app()", "lab")
"""The command line of the lab, by the interpreter that runs the job."""

UNUSABLE, INCOMPLETE = 2, 3
"""Exit codes of the command line: options or device cannot be used; budget, time or the device ended the search."""
LAST_ERRORS = 2_000
"""Characters of the process's last output to stderr that are kept in a message."""
STOP_S = 60.0
"""After so long the search is killed: a test on a real host takes half a minute, and the device then undoes its changes."""
_PR_SET_PDEATHSIG = 1


class CommandChanged(ValueError):
    """The journal is of another command than the device has now."""


@dataclass
class Tally:
    """How far a campaign is, counted from its journal."""

    tests: int = 0
    resets: int = 0
    bad: int = 0
    errors: int = 0
    seconds: float = 0.0
    phase: str | None = None
    phases: dict[str, int] = field(default_factory=dict)

    def add(self, line: dict[str, Any]) -> None:
        """Count one line of the journal; its head and its end count nothing."""
        if line.get("kind") not in ("test", "reset"):
            return
        self.tests += 1
        self.resets += line["kind"] == "reset"
        self.bad += bool(line.get("symptoms"))
        self.errors += line.get("status") == "error"
        self.seconds += float(line.get("seconds") or 0.0)
        self.phase = line.get("phase")
        if self.phase is not None:
            self.phases[self.phase] = self.phases.get(self.phase, 0) + 1

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "phases": dict(self.phases), "seconds": round(self.seconds, 3)}


@dataclass(frozen=True)
class Ended:
    """How a process ended: the campaign's state, why, and the report when there is one."""

    state: CampaignState
    message: str | None
    report: dict[str, Any] | None


class Follower:
    """Reads the complete lines that a journal gained since the last call; the command is replaced by the device's name.

    The head of a journal has the device's command, which is the runner's own affair: what leaves it names the device only.
    """

    def __init__(self, path: Path, device: str) -> None:
        self._path, self._device = path, device
        self._read = self._lines = 0

    def new_lines(self) -> list[tuple[int, dict[str, Any]]]:
        """(number of the line, its content); a torn last line waits until it is whole, one that is no JSON is left out."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                whole, found, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return []
        if not found:
            return []
        self._read += len(whole) + 1
        lines = []
        for text in whole.split(b"\n"):
            with contextlib.suppress(ValueError):
                line = json.loads(text)
                if isinstance(line, dict):
                    lines.append((self._lines, {**line, "dut": self._device} if line.get("kind") == "campaign" else line))
            self._lines += 1
        return lines


def arguments(command: str, options: dict[str, Any], folder: Path) -> list[str]:
    """Arguments of `wallwatch lab run` for a campaign's options.

    >>> arguments("dut", {"budget": 50, "max_time_s": 60, "seed": 1, "parameters": ["masks", "verb"]}, Path("d"))[:6]
    ['run', '--dut', 'dut', '--out', 'd', '--json']
    >>> arguments("dut", {"budget": 50, "parameters": ["masks", "verb"]}, Path("d"))[6:]
    ['--budget', '50', '--only', 'masks,verb']
    """
    given = ["run", "--dut", command, "--out", str(folder), "--json"]
    for name, option in (
        ("budget", "--budget"),
        ("target", "--target"),
        ("seed", "--seed"),
        ("strategy", "--strategy"),
        ("parallel", "--parallel"),
    ):
        if options.get(name) is not None:
            given += [option, str(options[name])]
    if options.get("max_time_s") is not None:
        given += ["--max-time", f"{options['max_time_s']}s"]
    if options.get("parameters"):
        given += ["--only", ",".join(options["parameters"])]
    return given


def restore(folder: Path, lines: Sequence[dict[str, Any]], command: str) -> None:
    """Write a journal that another runner began, with this runner's command for the device."""
    folder.mkdir(parents=True, exist_ok=True)
    own = [{**line, "dut": command} if line.get("kind") == "campaign" else line for line in lines]
    (folder / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in own), encoding="utf-8")


def _die_with_parent() -> None:
    """A runner that is killed must leave nobody behind who goes on testing: another runner continues the campaign."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class CampaignProcess:
    """A running campaign.

    Parameters
    ----------
    folder
        Of the campaign; holds its journal when it is resumed.
    device, command
        Name of the device, and the command that starts it.

    Raises
    ------
    CommandChanged
        When the folder's journal was written with another command.
    """

    def __init__(self, folder: Path, device: str, command: str, options: dict[str, Any], program: Sequence[str] = PROGRAM) -> None:
        self._folder = folder
        journal = folder / JOURNAL
        resumes = journal.exists() and _head(journal) is not None
        if resumes and _head(journal) != command:
            raise CommandChanged(f"The command of {device} has changed since the campaign began. Start a new one.")
        if journal.exists() and not resumes:  # killed before its head was whole: nothing was tested
            journal.unlink()
        given = ["resume", str(folder), "--json"] if resumes else arguments(command, options, folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REPORT).unlink(missing_ok=True)
        with (folder / ERRORS).open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - the command is a setting of this process
                [*program, *given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        self._follower = Follower(journal, device)
        self.tally = Tally()
        self._unsent: list[tuple[int, dict[str, Any]]] = []
        self._stopped: str | None = None
        self._kill_at = 0.0

    def unsent_lines(self) -> list[tuple[int, dict[str, Any]]]:
        """What the journal gained, counted in `tally`; the same again until `sent` says that the database has it."""
        for number, line in self._follower.new_lines():
            self.tally.add(line)
            self._unsent.append((number, line))
        return list(self._unsent)

    def sent(self, count: int) -> None:
        """The database has the first lines of `unsent_lines`."""
        del self._unsent[:count]

    def stop(self, why: str) -> None:
        """End after the running test, with a report; repeated calls kill the process when it takes too long."""
        if self._stopped is None:
            self._stopped, self._kill_at = why, time.monotonic() + STOP_S
            self._signal(signal.SIGTERM)
        elif time.monotonic() >= self._kill_at:
            self._signal(signal.SIGKILL)

    def end_within(self, why: str, timeout_s: float) -> None:
        """Stop, and kill what has not ended in time: nothing of it may go on when this returns."""
        self.stop(why)
        if not self.wait(timeout_s):
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        # To the search alone: the device sees its input end, and must be left to undo what it changed.
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def wait(self, timeout_s: float) -> bool:
        """Wait until it has ended; returns whether it has."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ended(self) -> Ended | None:
        """How it ended; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        report, why = _read_report(self._folder / REPORT)
        if self._stopped is not None:
            return Ended(CampaignState.stopped, self._stopped, report)
        if code < 0:
            return Ended(CampaignState.failed, f"The search was killed by signal {-code}; its journal has every finished test.", report)
        said = _last_text(self._folder / ERRORS)
        if code == UNUSABLE or report is None:
            return Ended(CampaignState.failed, said or why or f"The lab ended with exit code {code} and without a word.", report)
        stopped = str(report.get("stopped") or "")
        if stopped.startswith("device failed"):
            return Ended(CampaignState.failed, f"{stopped[0].upper()}{stopped[1:]}", report)
        if code not in (0, INCOMPLETE):
            return Ended(CampaignState.failed, said or f"The lab ended with exit code {code}.", report)
        return Ended(CampaignState.finished, stopped or None, report)


def _head(journal: Path) -> str | None:
    """The command in the head of a journal; None when the head is not whole."""
    try:
        with journal.open("rb") as file:
            head = json.loads(file.readline())
        return str(head["dut"])
    except (ValueError, KeyError, TypeError):
        return None


def _read_report(path: Path) -> tuple[dict[str, Any] | None, str | None]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except ValueError as error:
        return None, f"The report cannot be read: {error}"
    return (found, None) if isinstance(found, dict) else (None, "The report is no JSON object.")


def _last_text(path: Path) -> str:
    """The end of what the process wrote to stderr: its last line that is no progress."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[-LAST_ERRORS:]
    except FileNotFoundError:
        return ""
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1].removeprefix("wallwatch lab: ") if lines else ""
