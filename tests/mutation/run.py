"""Runs the tests against mutants, in a copy of the repository."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation.areas import Area
from tests.mutation.coverage import Recording, function_at
from tests.mutation.mutants import REPOSITORY, Mutant
from tests.mutation.server import Answer, Request

TIMEOUT_S = 400
MOST_FAULTS = 6
LEFT_OUT = ("frontend/", "docs/images/", "tests/e2e/")
NOTICED_CODES = (1, 2)
"""Of pytest: tests failed, or could not be loaded. Others are faults of the run."""


class RunError(Exception):
    """The tests could not be run, so that nothing is known of a mutant."""


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a mutant."""

    mutant: Mutant
    outcome: str
    """killed, survived, timeout (which counts as killed), or invalid: it does not compile."""
    noticed_by: str
    seconds: float


def copy_to(folder: Path) -> None:
    """Everything under version control that the tests need, as it is now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPOSITORY, capture_output=True, check=True
    )
    for name in listed.stdout.decode().split("\0"):
        source = REPOSITORY / name
        if name and not name.startswith(LEFT_OUT) and source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


def sample(area: Area, size: int, seed: int, known: frozenset[str] = frozenset()) -> list[Mutant]:
    """Mutants of an area that no earlier run knew, in a random order that the seed decides; all of them where the area is not sampled."""
    every = area.mutants(area.name)
    if not area.sampled:
        return every
    shuffled = random.Random(f"{seed} {area.name}").sample(every, len(every))
    return [mutant for mutant in shuffled if mutant.fingerprint not in known][:size]


@contextmanager
def changed(mutant: Mutant, folder: Path) -> Iterator[None]:
    """The mutant in place of the original. Its time of change differs, so that no compiled copy of the original is taken for it."""
    place = folder / mutant.path
    original, times = place.read_bytes(), place.stat()
    place.write_bytes(mutant.apply(original))
    os.utime(place, (times.st_atime, times.st_mtime + 7))
    try:
        yield
    finally:
        place.write_bytes(original)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def environment(folder: Path) -> dict[str, str]:
    tools = os.environ.get("WALLWATCH_TOOLS_DIR") or str(REPOSITORY / ".local/tools")
    paths = os.pathsep.join(str(folder / name) for name in ("pipelines", "backend", "local"))
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": paths, "WALLWATCH_TOOLS_DIR": tools, **one_thread}


class Pytest:
    """Runs pytest in processes forked from a warm one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.server"],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._recordings: dict[tuple[str, ...], Recording] = {}

    def close(self) -> None:
        """End the warm process."""
        self._server.communicate()

    def ask(self, arguments: list[str], only: dict[str, float] | None = None, leave_out: list[str] | None = None) -> Answer:
        """Run these tests until the first that fails."""
        return self._ask(Request(arguments=arguments, only=only, leave_out=leave_out or [], record=False, limit_s=TIMEOUT_S))

    def record(self, arguments: tuple[str, ...]) -> Recording:
        """What the tests call without a mutant; they must pass, or their verdicts mean nothing.

        Raises
        ------
        RunError
            When a test fails.
        """
        if arguments not in self._recordings:
            answer = self._ask(Request(arguments=list(arguments), only=None, leave_out=[], record=True, limit_s=3 * TIMEOUT_S))
            if answer["code"] != 0:
                raise RunError(f"the tests fail without any mutant\n{answer['output']}")
            self._recordings[arguments] = Recording.of(answer["calls"], answer["took"])
        return self._recordings[arguments]

    def check(self, arguments: list[str]) -> None:
        """Check that these tests pass without a mutant, once.

        Raises
        ------
        RunError
            When one fails.
        """
        if tuple(arguments) not in self._recordings:
            answer = self.ask(arguments)
            if answer["code"] != 0:
                raise RunError(f"the tests fail without any mutant\n{answer['output']}")
            self._recordings[tuple(arguments)] = Recording()

    def _ask(self, request: Request) -> Answer:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer: Answer = json.loads(self._server.stdout.readline())
        return answer


@dataclass
class Runner:
    """Verdicts of one area's tests."""

    area: Area
    folder: Path
    pytest: Pytest
    recording: Recording = field(default_factory=Recording)

    def prepare(self, chosen: list[Mutant]) -> None:
        """Check that the tests pass without a mutant, and note what they call."""
        if self.area.recorded:
            self.recording = self.pytest.record(self.area.recorded)
        elif not self.area.go:
            self.pytest.check(self.area.tests(chosen[0]))
        else:
            code, output = self._go()
            if code != 0:
                raise RunError(f"{self.area.name}: the tests fail without any mutant\n{output[-3000:]}")

    def verdict(self, mutant: Mutant) -> Verdict:
        """Change the file, and run the tests until one fails."""
        begun = time.monotonic()
        with changed(mutant, self.folder):
            outcome, noticed_by = self._of_go() if self.area.go else self._of_python(mutant)
        return Verdict(mutant, outcome, noticed_by, time.monotonic() - begun)

    def _of_go(self) -> tuple[str, str]:
        code, output = self._go()
        if code is None:
            return "timeout", ""
        if "[build failed]" in output or "[setup failed]" in output:
            return "invalid", ""
        found = re.search(r"(?m)^ *--- FAIL: (\S+)", output)
        if code != 0 and not found and "panic" not in output:
            raise RunError(output[-3000:])
        return ("survived", "") if code == 0 else ("killed", found[1] if found else "")

    def _go(self) -> tuple[int | None, str]:
        with subprocess.Popen(
            ["go", "test", "-count=1", *self.area.go],
            cwd=self.folder / "collectors",
            env=environment(self.folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return None, ""
        return process.returncode, output.decode(errors="replace")

    def _of_python(self, mutant: Mutant) -> tuple[str, str]:
        """First the tests that call the mutant's function; when none of them fails, all others of the area."""
        covering = self.recording.covering(mutant)
        if covering:
            modules = sorted({test.partition("::")[0] for test in covering})
            said = self._said(mutant, self.pytest.ask(modules, only=covering))
            # Those that call nothing of it can notice only what a cache has kept; with a server they would take a minute. A line outside
            # of functions belongs to no call, so all tests may notice it.
            if said[0] != "survived" or (self.area.servers and function_at(mutant) is not None):
                return said
        tests = self.area.tests(mutant)
        return self._said(mutant, self.pytest.ask(tests, leave_out=list(covering)))

    def _said(self, mutant: Mutant, answer: Answer) -> tuple[str, str]:
        if answer["code"] is None:
            return "timeout", ""
        if answer["code"] in (0, 5):  # 5: no test was left to run
            return "survived", ""
        if answer["code"] not in NOTICED_CODES or not answer["failed"]:
            raise RunError(f"{mutant.key}: pytest ended with {answer['code']}\n{answer['output'][-800:]}")
        if self.area.servers and not answer["asserted"] and not self._passes_without(mutant, answer["failed"]):
            raise RunError(f"{mutant.key}: {answer['failed']} fails without the mutant too\n{answer['output']}")
        return "killed", answer["failed"]

    def _passes_without(self, mutant: Mutant, test: str) -> bool:
        place = self.folder / mutant.path
        with_mutant, times = place.read_bytes(), place.stat()
        shutil.copy2(REPOSITORY / mutant.path, place)
        try:
            return self.pytest.ask([test])["code"] == 0
        finally:
            place.write_bytes(with_mutant)
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


@contextmanager
def servers(wanted: bool, folder: Path) -> Iterator[None]:
    """PostgreSQL for all runs of an area, which each run would start otherwise."""
    command = [sys.executable, "-m", "wallwatch_local", "test-servers"]
    if wanted:
        subprocess.run([*command, "start"], cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        if wanted:
            subprocess.run([*command, "stop"], cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL)


def verdicts(runner: Runner, chosen: list[Mutant], deadline: float) -> Iterator[Verdict]:
    """The verdict on each mutant, until the deadline (of `time.monotonic`). A run that says nothing is repeated once, then left out.

    Raises
    ------
    RunError
        When that happens to several mutants one after the other.
    """
    faults = 0
    for mutant in chosen:
        if time.monotonic() > deadline:
            return
        for attempt in (1, 2):
            try:
                verdict = runner.verdict(mutant)
            except RunError as error:
                faults += 1
                if faults >= MOST_FAULTS:
                    raise
                print(f"attempt {attempt}: {error}", file=sys.stderr, flush=True)
            else:
                faults = 0
                yield verdict
                break
