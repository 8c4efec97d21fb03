"""`python -m tests.weaknesses`: takes out each fix, in a copy of the repository, and runs the tests named for it; they must fail."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from tests.mutation.run import copy_to, environment
from tests.weaknesses.document import write_table
from tests.weaknesses.removals import REPOSITORY, Removal, removals

app = typer.Typer(pretty_exceptions_enable=False)
FAILED = 1
"""How pytest and vitest end when a test failed; an import that fails is another code, and proves nothing."""


@dataclass(frozen=True)
class Said:
    """What the tests said: those that failed, or what went wrong instead."""

    failed: list[str]
    code: int
    output: str


class Copy:
    """A copy of the repository in which files may be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        copy_to(folder)
        listed = subprocess.run(["git", "ls-files", "-z", "frontend"], cwd=REPOSITORY, capture_output=True, check=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)
        (folder / "frontend/node_modules").symlink_to(REPOSITORY / "frontend/node_modules")

    @contextmanager
    def without(self, removal: Removal) -> Iterator[None]:
        """The fix is out for the length of the block."""
        place = self.folder / removal.file
        original, times = place.read_text(encoding="utf-8"), place.stat()
        place.write_text(removal.applied_to(original), encoding="utf-8")
        os.utime(place, (times.st_atime, times.st_mtime + 7))  # no compiled copy of the original is taken for it
        try:
            yield
        finally:
            place.write_text(original, encoding="utf-8")
            os.utime(place, (times.st_atime, times.st_mtime + 14))

    def run(self, tests: list[str], *, of_the_pages: bool) -> Said:
        """Run tests until the first that fails."""
        if of_the_pages:
            command, place = ["npx", "vitest", "run", *tests], self.folder / "frontend"
        else:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-rf", "--tb=line", "-p", "no:cacheprovider", *tests]
            place = self.folder
        done = subprocess.run(command, cwd=place, env=environment(self.folder), capture_output=True, text=True, check=False)
        output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        failed = re.findall(r"(?m)^ *FAIL(?:ED)? +(\S.*?)(?: - .*)?$", output)
        return Said(failed, done.returncode, output)


@app.command()
def main(
    only: str = typer.Option("", help="numbers of weaknesses, such as 2,5; all of them by default"),
    write: bool = typer.Option(False, "--write", help="write the table in docs/security.md"),
) -> None:
    """Exit code 1 if a fix can be taken out without a test that fails."""
    chosen = [one for one in removals() if not only or one.weakness in map(int, only.split(","))]
    proven: dict[tuple[int, str], str] = {}
    with tempfile.TemporaryDirectory(prefix="ww-weaknesses-") as name:
        copy = Copy(Path(name))
        for of_the_pages in (False, True):
            tests = list(dict.fromkeys(test for one in chosen if one.is_of_the_pages is of_the_pages for test in one.tests))
            before = copy.run(tests, of_the_pages=of_the_pages) if tests else Said([], 0, "")
            if before.code != 0:
                sys.exit(f"tests fail with all fixes in place, so they would prove nothing\n{before.output[-3000:]}")
        for one in chosen:
            with copy.without(one):
                said = copy.run(one.tests, of_the_pages=one.is_of_the_pages)
            good = said.code == FAILED and bool(said.failed)
            if good:
                proven[one.weakness, one.what] = said.failed[0]
            sys.stdout.write(f"{one.weakness:2} {one.what}: {said.failed[0] if good else 'NOT NOTICED'}\n")
            sys.stdout.flush()
            if not good:
                sys.stderr.write(said.output[-3000:] + "\n")
    if write and len(proven) == len(chosen) and not only:
        write_table(chosen, proven)
    raise typer.Exit(0 if len(proven) == len(chosen) else 1)


if __name__ == "__main__":
    app()
