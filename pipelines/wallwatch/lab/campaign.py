"""A campaign: one search on one device, in a folder with its journal and report.

`run` starts one, `resume` continues one that was killed, stopped or ended at a limit: it searches again and answers from the journal.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from wallwatch.domain.lab.device import Device, parse_device
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.tester import Options, SearchEnd, Tester
from wallwatch.lab.journal import VERSION, Content, Journal, JournalError
from wallwatch.lab.one_thread import one_thread
from wallwatch.lab.options import CampaignOptions, Hooks
from wallwatch.lab.process import DeviceProcess
from wallwatch.lab.tester import ATTEMPTS, JournalTester

REPORT_NAME = "report.json"
Search = Callable[[Device, Tester, Options], Report]


def run(
    folder: Path | None, command: str, options: CampaignOptions, hooks: Hooks | None = None, search: Search | None = None
) -> dict[str, Any]:
    """Run a new campaign and return its report, complete or not.

    Parameters
    ----------
    folder
        Created; must not hold a campaign yet. None for `./lab-DEVICE-TIME`.
    command
        Starts a process that speaks `dut/1`.

    Raises
    ------
    BadDevice
        The device does not start, describes nothing usable, or cannot satisfy the options. Nothing is written.
    JournalError
        The folder holds a campaign already, or cannot be written.
    """
    hooks = hooks or Hooks()
    with _one_process(command, options, None, hooks) as first:
        described = first.describe()
        options.check(first.device)
        header = {
            "kind": "campaign",
            "version": VERSION,
            "dut": command,
            "describe": described,
            "options": options.to_json(),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        folder = folder or _default_folder(first.device)
        journal = Journal.create(folder, header)
        with contextlib.closing(journal):
            return _campaign(folder, journal, Content(header), options, hooks, first, search)


def resume(
    folder: Path,
    hooks: Hooks | None = None,
    budget: int | None = None,
    max_time_s: float | None = None,
    search: Search | None = None,
) -> dict[str, Any]:
    """Continue a campaign and return its report. Finished tests are not repeated; a finished campaign never starts its device.

    Parameters
    ----------
    budget, max_time_s
        Replace those of the campaign, for one that ended at its limit; None keeps them.

    Raises
    ------
    JournalError
        There is no campaign, its journal is damaged or in use, or the search asks something else than the journal holds.
    """
    hooks = hooks or Hooks()
    journal, content = Journal.continued(folder)
    with contextlib.closing(journal):
        if content.torn is not None:
            hooks.on_warning(f"the journal's last line was cut off and is ignored: {content.torn}")
        _ask_failures_again(journal, content)
        header = content.header
        options = CampaignOptions.from_json(header["options"])
        options = replace(options, budget=budget or options.budget, max_time_s=max_time_s or options.max_time_s)
        with _one_process(header["dut"], options, header["describe"], hooks) as first:
            return _campaign(folder, journal, content, options, hooks, first, search)


def read_report(folder: Path) -> dict[str, Any]:
    """The report of a campaign.

    Raises
    ------
    JournalError
        There is none, or it is damaged.
    """
    path = folder / REPORT_NAME
    try:
        found = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise JournalError(
            f"{folder} holds no {REPORT_NAME}: the campaign still runs, or was killed; continue it with `wallwatch lab resume {folder}`"
        ) from None
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror or error}") from None
    except orjson.JSONDecodeError as error:
        raise JournalError(f"{path} is damaged: {error}; write it again with `wallwatch lab resume {folder}`") from None
    if not isinstance(found, dict):
        raise JournalError(f"{path} is no report: write it again with `wallwatch lab resume {folder}`")
    return found


def _campaign(
    folder: Path, journal: Journal, content: Content, options: CampaignOptions, hooks: Hooks, first: DeviceProcess, search: Search | None
) -> dict[str, Any]:
    """Search, write the report, and end the session's part of the journal."""
    described = content.header["describe"]
    device = parse_device(described)
    hooks.on_begin(folder, device)
    with contextlib.ExitStack() as stack:
        others = [
            stack.enter_context(_one_process(content.header["dut"], options, described, hooks))
            for _ in range(1 if device.sequential else options.parallel, 1, -1)
        ]
        tester = JournalTester(device, [first, *others], journal, content, options, hooks)
        stack.callback(tester.close)
        try:
            found = _searched(search, device, tester, options)
        except BaseException:
            tester.abort()
            raise
    report = _report(found, tester)
    _write_report(folder, report)
    if content.end is None or content.end["complete"] != report["complete"] or content.end["why"] != report["stopped"]:
        journal.append({"kind": "end", "complete": report["complete"], "why": report["stopped"], "elapsed_s": round(tester.seconds, 3)})
    return report


def _searched(search: Search | None, device: Device, tester: JournalTester, options: CampaignOptions) -> Report:
    if search is None:
        with one_thread():
            from wallwatch.domain.lab.search import run_lab

        search = run_lab
    try:
        return search(device, tester, options.for_search())
    except SearchEnd as end:  # a search reports what it has; one that does not is reported without causes
        return Report(device, options.for_search(), stopped=str(end))


def _report(found: Report, tester: JournalTester) -> dict[str, Any]:
    """The search's report with what only the tester knows: all operations, retries included, and the time."""
    report = found.to_json()
    notes = [*report["notes"], *_notes(tester)]
    stopped = tester.ended or report["stopped"]
    known = {
        "tests": sum(tester.operations.values()),
        "resets": tester.resets,
        "seconds": round(tester.campaign_seconds, 3),
        "phases": dict(tester.operations),
        "stopped": stopped,
        "complete": stopped is None,
        "notes": notes,
    }
    return report | known


def _notes(tester: JournalTester) -> list[str]:
    notes = []
    if tester.retries:
        notes.append(f"{tester.retries} operations were retries after an error of the device (at most {ATTEMPTS} attempts each)")
    faults: Counter[str] = tester.faults
    if faults:
        notes.append("the adaptor broke the protocol: " + ", ".join(f"{kind} {count}×" for kind, count in sorted(faults.items())))
    return notes


def _ask_failures_again(journal: Journal, content: Content) -> None:
    """After a campaign that ended because its device failed, the operations that failed last are asked again."""
    if content.end is None or not str(content.end.get("why") or "").startswith("device failed"):
        return
    first = None
    for n in sorted(content.lines, reverse=True):
        if content.lines[n]["status"] != "error":
            break
        first = n
    if first is not None:
        journal.append({"kind": "again", "from": first})
        content.drop(first)
        content.end = None


def _default_folder(device: Device) -> Path:
    name = re.sub(r"[^a-z0-9.]+", "-", device.name.lower()).strip("-.") or "device"
    return Path(f"lab-{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")


def _write_report(folder: Path, report: dict[str, Any]) -> None:
    """Whoever reads the file sees the old report or the new one, never a part."""
    path, new = folder / REPORT_NAME, folder / f".{REPORT_NAME}.{os.getpid()}"
    try:
        with new.open("wb") as file:
            file.write(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise JournalError(
            f"{path} could not be written: {error.strerror or error}; make room, then `wallwatch lab resume {folder}`"
        ) from None
    finally:
        new.unlink(missing_ok=True)


@contextlib.contextmanager
def _one_process(command: str, options: CampaignOptions, described: dict[str, Any] | None, hooks: Hooks) -> Iterator[DeviceProcess]:
    process = DeviceProcess(command, options.timeout_s, described, hooks.on_warning)
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    else:
        process.close()
