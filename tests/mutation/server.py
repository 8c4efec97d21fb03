"""Runs tests in forked processes, in a copy of the repository: `python -m tests.mutation.server`, with requests on standard input.

The parent loads other people's modules once and none of ours, so that each child begins in milliseconds and reads the mutated file.
A request and its answer are lines of JSON: see `Request` and `Answer`.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import TypedDict

import pytest

OPTIONS = [
    "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--timeout=120", "--tb=line",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # some libraries that are loaded once are plugins too: their asserts are no matter
]  # fmt: skip
ENOUGH_CALLS = 100_000
"""After so many calls a test calls hardly anything new, and is not slowed down any longer."""
LIBRARIES = {

    "numpy",
    "scipy",
    "pydantic",
    "pydantic_core",
    "yaml",
    "fastapi",
    "starlette",
    "sqlalchemy",
    "httpx",
    "psycopg",
    "alembic",
    "typer",
}  # fmt: skip
"""Loaded once. None of ours, which are mutated."""


class Request(TypedDict):
    """One run of pytest."""

    arguments: list[str]
    only: dict[str, float] | None
    """Tests to run, with the seconds that each took without a mutant; the quickest of a module first. None: all of them."""
    leave_out: list[str]
    """Tests that have run before."""
    record: bool
    """Whether to note the functions that each test calls."""
    limit_s: float


class Answer(TypedDict):
    """What came of it."""

    code: int | None
    """pytest's exit code; None when the time limit ended the run."""
    failed: str
    """The first test (or test module) that failed."""
    when: str
    """What failed of it: collect, setup, call or teardown."""
    asserted: bool
    """Whether it failed by an assertion of its own."""
    seconds: float
    calls: dict[str, list[str]]
    """Of a recording: test -> functions, as `path:line` from the repository's root."""
    took: dict[str, float]
    """Of a recording: test -> seconds."""
    output: str
    """The end of what pytest wrote."""


class Selection:
    """A plugin of pytest: chooses and orders the tests, and keeps the first failure."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.failed, self.when, self.asserted = "", "", False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        only, left_out = self.request["only"], set(self.request["leave_out"])
        wanted = [item for item in items if item.nodeid not in left_out and (only is None or item.nodeid in only)]
        chosen = {item.nodeid for item in wanted}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        if only is not None:
            # Module by module, because a module's fixtures may be a server and its database.
            totals: dict[str, float] = {}
            for item in wanted:
                module = item.nodeid.partition("::")[0]
                totals[module] = totals.get(module, 0.0) + only[item.nodeid]
            wanted.sort(key=lambda item: (totals[item.nodeid.partition("::")[0]], item.nodeid.partition("::")[0], only[item.nodeid]))
            for item in wanted:
                item.add_marker(pytest.mark.timeout(max(30.0, 30 * only[item.nodeid])))
        items[:] = wanted

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed, self.when = report.nodeid, "collect"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed, self.when = report.nodeid, report.when
            crash = getattr(report.longrepr, "reprcrash", None)
            self.asserted = report.when == "call" and str(getattr(crash, "message", "")).startswith(("assert ", "AssertionError"))


class Recorder:
    """A plugin of pytest: the functions of ours that each test calls, and how long it takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = f"{folder}/"
        self.calls: dict[str, list[str]] = {}
        self.took: dict[str, float] = {}
        self._codes: set[CodeType] = set()
        self._left = 0

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._codes.add(frame.f_code)
            self._left -= 1
            if self._left < 0:
                sys.setprofile(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._codes.clear()
        self._left = ENOUGH_CALLS
        begun = time.monotonic()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            self.took[item.nodeid] = time.monotonic() - begun
            self.calls[item.nodeid] = sorted(
                f"{code.co_filename.removeprefix(self.folder)}:{code.co_firstlineno}"
                for code in self._codes.copy()
                if code.co_filename.startswith(self.folder)
            )


def run_here(request: Request, output: Path) -> Answer:
    """Run pytest in this process, which ends after it."""
    with output.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    sys.dont_write_bytecode = not request["record"]  # what is compiled without a mutant serves all later children
    selection, recorder = Selection(request), Recorder(Path.cwd())
    begun = time.monotonic()
    code = int(pytest.main([*OPTIONS, *request["arguments"]], plugins=[selection, *([recorder] if request["record"] else [])]))
    return Answer(
        code=code,
        failed=selection.failed,
        when=selection.when,
        asserted=selection.asserted,
        seconds=time.monotonic() - begun,
        calls=recorder.calls,
        took=recorder.took,
        output="",
    )


def run(request: Request) -> tuple[Answer, list[str]]:
    """Run pytest in a child; returns its answer, and the names of the modules that it loaded."""
    with tempfile.TemporaryDirectory(prefix="wallwatch-mutant-") as folder:
        output = Path(folder) / "output"
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reader)
            os.setsid()
            status = 1
            try:
                own = run_here(request, output)
                with os.fdopen(writer, "w") as stream:
                    json.dump({"answer": own, "modules": sorted(sys.modules) if request["record"] else []}, stream)
                status = 0
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(status)
        os.close(writer)
        begun = time.monotonic()
        text = _read(reader, request["limit_s"])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        end = output.read_text(errors="replace")[-3000:] if output.exists() else ""
    if text is None:
        seconds = time.monotonic() - begun
        return Answer(code=None, failed="", when="", asserted=False, seconds=seconds, calls={}, took={}, output=end), []
    if not text:  # the child ended without an answer: `code` says that of itself
        return Answer(code=3, failed="", when="", asserted=False, seconds=time.monotonic() - begun, calls={}, took={}, output=end), []
    said = json.loads(text)
    answer: Answer = said["answer"]
    answer["output"] = end
    return answer, said["modules"]


def _read(descriptor: int, limit_s: float) -> str | None:
    """Everything until the other end closes, or None after the limit."""
    deadline = time.monotonic() + limit_s
    parts: list[bytes] = []
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            part = stream.read(1 << 20)
            if not part:
                return b"".join(parts).decode()
            parts.append(part)


def load(names: list[str]) -> None:
    """Import the large libraries' modules here, so that each child has them."""
    for name in names:
        if name.partition(".")[0] in LIBRARIES and name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request: Request = json.loads(line)
        answer, modules = run(request)
        load(modules)
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
