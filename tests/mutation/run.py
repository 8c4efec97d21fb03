"""Runs the tests against mutants, in a copy of the repository."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.areas import Area
from tests.mutation.mutants import REPOSITORY, Mutant

TIMEOUT_S = 400
LEFT_OUT = ("frontend/", "docs/images/", "tests/e2e/")


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


def sample(area: Area, size: int, seed: int) -> list[Mutant]:
    """Mutants of an area in a random order that the seed decides; all of them where the area is not sampled."""
    every = area.mutants(area.name)
    return random.Random(f"{seed} {area.name}").sample(every, len(every) if not area.sampled else min(size, len(every)))


def verdicts(area: Area, chosen: list[Mutant], folder: Path, deadline: float) -> Iterator[Verdict]:
    """The verdict on each mutant, until the deadline (of `time.monotonic`)."""
    for mutant in chosen:
        if time.monotonic() > deadline:
            return
        place = folder / mutant.path
        original = place.read_bytes()
        place.write_bytes(mutant.apply(original))
        try:
            yield _verdict(area, mutant, folder)
        finally:
            place.write_bytes(original)


def check_unchanged(area: Area, chosen: list[Mutant], folder: Path) -> None:
    """The tests pass on what is not mutated, or their verdicts mean nothing."""
    wanted = list(dict.fromkeys(argument for mutant in chosen for argument in area.tests(mutant)))
    code, output = _run(area, wanted, folder)
    assert code == 0, f"{area.name}: the tests fail without any mutant\n{output[-3000:]}"


def _verdict(area: Area, mutant: Mutant, folder: Path) -> Verdict:
    begun = time.monotonic()
    code, output = _run(area, area.tests(mutant), folder)
    seconds = time.monotonic() - begun
    if code is None:
        return Verdict(mutant, "timeout", "", seconds)
    if "[build failed]" in output or "[setup failed]" in output:
        return Verdict(mutant, "invalid", "", seconds)
    return Verdict(mutant, "survived" if code == 0 else "killed", _first_failure(output), seconds)


def _first_failure(output: str) -> str:
    found = re.search(r"(?m)^(?:FAILED|ERROR) (.+?)(?: - .*)?$|^--- FAIL: (\S+)", output)
    return next(filter(None, found.groups()), "") if found else ""


def _run(area: Area, arguments: list[str], folder: Path) -> tuple[int | None, str]:
    paths = os.pathsep.join(str(folder / name) for name in ("pipelines", "backend", "local"))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*area.command, *arguments]
    with subprocess.Popen(
        command, cwd=folder / area.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
    return process.returncode, output.decode(errors="replace")
