"""Runs the Go tests of the folder in which it is started, or those of the packages that are named.

`go test` names every package; at the end come the failures once more and a closing line for the whole. Where the runner of all tests wants
that, each failed test is recorded, as the pytest plugin does it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wallwatch_local.paths import FAILURES_VARIABLE
from wallwatch_local.second_tries import record

REAL = frozenset({"net", "net/http/httptest", "os/exec", "syscall", "sys/unix", "internal/waittest", "internal/ovs/ovstest"})
"""What tests import, in whole or as the end of a path, if they use real sockets, servers, processes or clocks of the kernel, or wait."""
SHOWN_LINES = 8
FAILED_TEST = re.compile(r"--- FAIL: (\S+) \(")
FAILED_PACKAGE = re.compile(r"FAIL\t(\S+)(\t| \[)")
MESSAGE = re.compile(r"\s+\S+\.go:\d+: (.+)")


@dataclass
class Failed:
    """A package that failed: its tests with the first line of what each says; none if it was not built or ended in any other way."""

    package: str
    tests: dict[str, str] = field(default_factory=dict)


def failed_packages(output: Iterable[str]) -> Iterator[Failed]:
    r"""The packages that failed, in the order of the output. A test that panics takes the others with it: no test failed, but the package.

    >>> lines = ["--- FAIL: TestA (0.01s)", "    --- FAIL: TestA/x (0.01s)", "        a_test.go:7: got 1", "FAIL", "FAIL\tx.org/a\t0.1s"]
    >>> list(failed_packages(lines))
    [Failed(package='x.org/a', tests={'TestA': 'got 1'})]
    """
    tests: dict[str, str] = {}
    newest, panicked = "", False
    for line in output:
        if found := FAILED_TEST.match(line):
            newest = found[1]
            tests[newest] = ""
        elif found := FAILED_PACKAGE.match(line):
            yield Failed(found[1], {} if panicked else tests)
            tests, newest, panicked = {}, "", False
        elif line.startswith("ok  \t"):
            tests, newest, panicked = {}, "", False
        elif line.startswith("panic: "):
            panicked = True
        elif newest and not tests[newest] and (found := MESSAGE.match(line)):
            tests[newest] = found[1].strip()


def is_real(imports: Iterable[str]) -> bool:
    """Whether tests with these imports use more than functions.

    >>> is_real(["testing", "net/netip"]), is_real(["testing", "x.org/collectors/internal/waittest"])
    (False, True)
    """
    return any(path == known or path.endswith(f"/{known}") for path in imports for known in REAL)


def imports_of_tests(packages: Sequence[str]) -> dict[str, list[str]]:
    """What the tests of each package import; nothing of a package that cannot be listed."""
    form = '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}'
    listed = subprocess.run(["go", "list", "-e", "-f", form, *packages], capture_output=True, text=True, check=False)
    words = [line.split() for line in listed.stdout.splitlines() if line.strip()]
    return {package: imports for package, *imports in words}


def record_failures(file: Path, failed: Sequence[Failed], imports: Mapping[str, Sequence[str]]) -> None:
    """A line for each failed test; what failed without one is recorded as the package's own."""
    for one in failed:
        real = is_real(imports.get(one.package, ()))
        for test, reason in one.tests.items():
            record(file, f"{one.package}::{test}", reason, real)
        if not one.tests:
            record(file, one.package, "it was not built, or ended before its tests", real=False)


def main(packages: Sequence[str]) -> int:
    """Run the tests of some packages, or all; returns the exit code of `go test`."""
    command = ["go", "test", "-count=1", *(packages or ("./...",))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    lines = [line for line in done.stdout.splitlines() if "no test files" not in line]
    print("\n".join(lines))
    marks = [at for at, line in enumerate(lines) if re.match(r" *--- FAIL|panic|FAIL.*\[", line)]
    shown = sorted({after for at in marks for after in range(at, min(at + 4, len(lines)))})[:SHOWN_LINES]
    for at in shown:
        print(lines[at])
    failed = list(failed_packages(lines))
    passed = sum(line.startswith("ok") for line in lines)
    print(f"go test: {passed} packages passed, {len(failed)} failed")
    if failed and (file := os.environ.get(FAILURES_VARIABLE)):
        record_failures(Path(file), failed, imports_of_tests([one.package for one in failed]))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
