"""The parts of the tests, selected with `make test PART=...`, and the stages of each."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.stages import Stage

COLLECTORS = REPOSITORY / "collectors"
FRONTEND = REPOSITORY / "frontend"
CHECKS = REPOSITORY / "local" / "checks"
BACKEND_TESTS = REPOSITORY / "backend" / "tests"

# Folders of the parts that are Python tests.
FOLDERS = {
    "packets": ("tests/isolation_real",),
    "pipelines": ("pipelines/tests",),
    "backend": ("backend/tests",),
    "local": ("local/tests",),
    "contract": ("tests/contract", "tests/kubernetes"),
    "integration": ("tests/integration", "tests/cni"),
    "faults": ("tests/faults",),
    "data": (
        "tests/evaluation",
        "tests/raw_hosts",
        "tests/external",
        "tests/plans",
        "tests/isolation_series",
        "tests/isolation_assumptions",
        "tests/isolation_simulations",
        "tests/lab_evaluation",
        "tests/bench",
        "tests/mutation",
    ),
}
# Two lanes of about the same length run side by side. The browser tests come last, next to tests that mostly wait:
# alongside a compiler they would run into their time-outs.
LANES = (("lint", "frontend", "go", "pipelines", "local", "contract", "data", "integration", "faults"), ("backend", "e2e"))
# These need the machine to themselves, and run before the lanes: a storm of packets fills the receive queue of a CPU, through which
# the other tests reach their servers.
ALONE = ("packets",)
# Their tests use real servers, processes and clocks.
REAL_PARTS = ("packets", "backend", "local", "contract", "integration", "faults", "data")
# Some of their tests do, and the others are pure.
MIXED_PARTS = ("pipelines", "go")
# One folder of the backend's tests each.
CONTEXTS = ("lab", "remedies", "policies", "isolation", "hosts", "fleet", "incidents", "notify", "accounts", "kit")
PARTS = (*(part for lane in LANES for part in lane), *ALONE, *CONTEXTS)
WORKERS = "2"


def lanes(names: Sequence[str]) -> list[list[Stage]]:
    """Stages of the named parts in one lane; without names, all parts in two lanes and those that run alone.

    Raises
    ------
    LocalStackError
        For an unknown part; the message lists the parts.
    """
    if names:
        return [[stage for name in names for stage in stages_of(name)]]
    return [[stage for name in lane for stage in stages_of(name, side_by_side=False)] for lane in (ALONE, *LANES)]


def stages_of(part: str, side_by_side: bool = True) -> list[Stage]:
    """Stages of one part; with `side_by_side` the tests of a long one run in several processes."""
    if part == "lint":
        return _lint()
    if part == "go":
        command = (sys.executable, "-m", "wallwatch_local.go_tests")
        return [Stage(part, "go-test", command, COLLECTORS, repeats_end=True, second_try=command, mixed=True)]
    if part == "frontend":
        return [Stage(part, "vitest", _npm("test"), FRONTEND, repeats_end=True)]
    if part == "e2e":
        return [Stage(part, "playwright", ("tests/e2e/run",), repeats_end=True)]
    if part in FOLDERS:
        stage = _pytest(part, FOLDERS[part], side_by_side and part in ("backend", "pipelines"))
        return [replace(stage, alone=part in ALONE)]
    if part in CONTEXTS:
        folder = BACKEND_TESTS / part
        if not folder.is_dir():
            raise LocalStackError(f"part {part!r}: folder {folder.relative_to(REPOSITORY)} does not exist; {known()}")
        return [_pytest(part, (str(folder.relative_to(REPOSITORY)),), side_by_side=False)]
    raise LocalStackError(f"unknown part {part!r}; {known()}")


def known() -> str:
    """The parts, for a message."""
    return "the parts are: " + " ".join(PARTS)


def fast() -> list[list[Stage]]:
    """The stages of `make test-fast`: no server, no browser, no build."""
    folders = (
        "pipelines/tests",
        "backend/tests",
        "local/tests",
        "tests/evaluation",
        "tests/plans",
        "tests/isolation_simulations",
        "tests/mutation",
    )
    pure = _pytest("fast", folders, False, "--no-servers", "-m", "not long")
    return [
        [Stage("fast", "ruff", ("ruff", "check", ".")), pure],
        [
            Stage("fast", "vitest", _npm("test"), FRONTEND, repeats_end=True),
            # Without -count=1, so that Go skips packages with unchanged sources.
            Stage("fast", "go-test", ("go", "test", "-short", "./..."), COLLECTORS),
        ],
    ]


def _lint() -> list[Stage]:
    return [
        Stage("lint", "gofmt", (str(CHECKS / "gofmt.sh"),)),
        Stage("lint", "golangci-lint", ("golangci-lint", "run", "./..."), COLLECTORS),
        Stage("lint", "ruff", ("ruff", "check", ".")),
        Stage("lint", "ruff-format", ("ruff", "format", "--check", ".")),
        Stage("lint", "mypy", ("mypy",)),
        Stage("lint", "imports", ("lint-imports",)),
        Stage("lint", "eslint", _npm("lint"), FRONTEND),
        Stage("lint", "descriptions", _npm("descriptions"), FRONTEND),
        Stage("lint", "typecheck", _npm("typecheck"), FRONTEND),
        Stage("lint", "frontend-format", ("npm", "run", "--silent", "--if-present", "format:check"), FRONTEND),
        Stage("lint", "frontend-imports", _npm("arch"), FRONTEND),
        Stage("lint", "page-weight", _npm("weight"), FRONTEND),  # of the build that `make setup` left
        Stage("lint", "generated", ("local/generate.sh", "--check")),
    ]


def _npm(script: str) -> tuple[str, ...]:
    return ("npm", "run", "--silent", script)


def _pytest(part: str, folders: Sequence[str], side_by_side: bool, *options: str) -> Stage:
    plain = ("pytest", "-q", "-p", "no:cacheprovider", *options)
    command = [*plain, "--durations=20", "--durations-min=5"]
    workers = os.environ.get("WALLWATCH_TEST_WORKERS", WORKERS)
    if side_by_side and workers != "1":
        # A module's tests share its servers and databases, so they stay together; the longest modules start first (see the marker `long`).
        command += ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
    second_try = plain if part in REAL_PARTS + MIXED_PARTS + CONTEXTS else ()
    name = f"pytest-{part}"
    return Stage(part, name, (*command, *folders), repeats_end=True, second_try=second_try, mixed=part in MIXED_PARTS)


def needs_servers(lanes: Sequence[Sequence[Stage]]) -> bool:
    """Whether shared servers pay off, because more than one test process would otherwise start its own."""
    commands = [stage.command for lane in lanes for stage in lane if stage.command[0] == "pytest" and "--no-servers" not in stage.command]
    return len(commands) > 1 or any("-n" in command for command in commands)
