"""A second try: which failures get one, what it changes, and what the last lines of a run say."""

import subprocess
import sys
from pathlib import Path

import pytest

from wallwatch_local import go_tests, parts, run_tests
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.second_tries import MOST_MODULES, Failure, failures_of, report
from wallwatch_local.stages import Outcome, Stage

# Fails in its first run and passes in the next.
ONCE = """
import sys
from pathlib import Path
HERE = Path(__file__).with_suffix(".ran")
def test_other():
    pass
def test_once():
    ran = HERE.exists()
    HERE.touch()
    assert ran, "first run"
"""
ALWAYS = "def test_always():\n    assert False, 'broken'\n"
WITH_SERVERS = "import pytest\npytestmark = pytest.mark.integration\n"
# Passes as soon as another test of its folder, or its own first run, left a file.
GO_ONCE = """package a

import (
	"os"
	"testing"
	_ "IMPORTED"
)

func TestOther(*testing.T) {}

func TestOnce(t *testing.T) {
	if _, err := os.Stat("ran"); err != nil {
		_ = os.WriteFile("ran", nil, 0o600)
		t.Error("first run")
	}
}
"""

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "wallwatch_local.pytest_plugin")


def stage(folder: Path, name: str, *modules: str, again: bool = True, mixed: bool = False) -> Stage:
    return Stage("local", name, (*PYTEST, *modules), folder, second_try=PYTEST if again else (), mixed=mixed)


def module(folder: Path, name: str, text: str) -> str:
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = integration: needs a server\n")
    (folder / f"test_{name}.py").write_text(text)
    return f"test_{name}.py"


def test_what_fails_once_passes_in_a_second_try_and_is_named(tmp_path: Path) -> None:
    once = module(tmp_path, "once", ONCE)
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[stage(tmp_path, "first", once)]])
    assert [outcome.verdict for outcome in outcomes] == ["ok in a second try (1 at first)"]
    assert outcomes[0].passed
    assert [(one.test.rpartition("::")[2], one.recovered) for one in failures] == [("test_once", True)]
    assert "first run" in failures[0].reason
    assert report(failures).startswith("failed once, passed in a second try: 1\n  first ")


def test_what_fails_twice_has_failed(tmp_path: Path) -> None:
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[stage(tmp_path, "first", module(tmp_path, "always", ALWAYS))]])
    assert not outcomes[0].passed
    assert outcomes[0].verdict == "FAILED (1)"
    assert report(failures).splitlines()[0] == "failed: 1"


def test_pure_tests_get_no_second_try(tmp_path: Path) -> None:
    once = stage(tmp_path, "pure", module(tmp_path, "once", ONCE), again=False)
    outcomes, _ = run_tests.run_all(tmp_path / "results", [[once]])
    assert not outcomes[0].passed
    assert outcomes[0].second_code is None
    stages = [stage for lane in parts.lanes([]) for stage in lane]
    assert {stage.part for stage in stages if stage.second_try and not stage.mixed} == set(parts.REAL_PARTS)
    assert {stage.part for stage in stages if stage.second_try and stage.mixed} == {"pipelines", "go"}


@pytest.mark.parametrize("side_by_side", [False, True])
def test_among_pure_tests_those_with_servers_get_a_second_try(tmp_path: Path, side_by_side: bool) -> None:
    real = module(tmp_path, "real", WITH_SERVERS + ONCE)
    mixed = stage(tmp_path, "mixed", real, *(("-n", "2") if side_by_side else ()), mixed=True)
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[mixed]])
    assert outcomes[0].passed
    assert report(failures).startswith("failed once, passed in a second try: 1\n  mixed ")


def test_a_pure_test_that_fails_among_those_with_servers_has_failed_for_all_of_them(tmp_path: Path) -> None:
    real, pure = module(tmp_path, "real", WITH_SERVERS + ONCE), module(tmp_path, "pure", ONCE)
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[stage(tmp_path, "mixed", real, pure, mixed=True)]])
    assert not outcomes[0].passed
    assert outcomes[0].second_code is None
    assert [(failure.test.partition("::")[0], failure.real, failure.recovered) for failure in failures] == [
        ("test_real.py", True, False),
        ("test_pure.py", False, False),
    ]


def test_the_tests_of_pipelines_with_servers_are_known_as_such() -> None:
    """What the pytest plugin notes decides over a second try, so it must be true of the folder of such tests and of no pure one."""
    listing = [sys.executable, "-m", "pytest", "-q", "--collect-only", "--no-servers", "-p", "no:cacheprovider"]
    folders = (
        "pipelines/tests/integration/test_ingest.py",
        "pipelines/tests/integration/test_validate.py",
        "pipelines/tests/test_recordings.py",
    )
    listed = subprocess.run([*listing, *folders], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    modules = {line.partition("::")[0] for line in listed.stdout.splitlines() if "::" in line}
    assert modules == {"pipelines/tests/test_recordings.py"}, listed.stdout


def test_many_failing_modules_get_no_second_try(tmp_path: Path) -> None:
    modules = [module(tmp_path, f"once_{number}", ONCE) for number in range(MOST_MODULES + 1)]
    outcomes, failures = run_tests.run_all(
        tmp_path / "results", [[stage(tmp_path, "half", *modules[:2])], [stage(tmp_path, "rest", *modules[2:])]]
    )
    assert [outcome.second_code for outcome in outcomes] == [None, None]
    assert len(failures) == MOST_MODULES + 1


def test_a_module_that_cannot_be_imported_fails(tmp_path: Path) -> None:
    outcomes, _ = run_tests.run_all(
        tmp_path / "results", [[stage(tmp_path, "first", module(tmp_path, "unreadable", "import no_such_module\n"))]]
    )
    assert not outcomes[0].passed


def test_runs_of_pytest_within_a_test_record_nothing(tmp_path: Path) -> None:
    inner = module(tmp_path, "always", ALWAYS)
    command = [*PYTEST, inner]
    outer = f"import subprocess\ndef test_outer():\n    assert subprocess.run({command!r}).returncode == 1\n"
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[stage(tmp_path, "first", module(tmp_path, "outer", outer))]])
    assert outcomes[0].passed
    assert failures == []


@pytest.mark.parametrize(("imported", "recovers"), [("net", True), ("strings", False)])
def test_a_go_package_whose_tests_use_sockets_gets_a_second_try_and_a_pure_one_none(tmp_path: Path, imported: str, recovers: bool) -> None:
    folder = go_module(tmp_path, GO_ONCE.replace("IMPORTED", imported))
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[go_stage(folder)]])
    assert outcomes[0].passed is recovers
    assert [(one.test, one.reason, one.recovered) for one in failures] == [("example.org/a::TestOnce", "first run", recovers)]
    assert report(failures).startswith("failed once, passed in a second try: 1" if recovers else "failed: 1")


@pytest.mark.parametrize("broken", ['panic("no")', "not Go"])
def test_a_go_package_that_panics_or_cannot_be_built_gets_no_second_try(tmp_path: Path, broken: str) -> None:
    text = GO_ONCE.replace("IMPORTED", "net").replace('t.Error("first run")', broken)
    outcomes, failures = run_tests.run_all(tmp_path / "results", [[go_stage(go_module(tmp_path, text))]])
    assert not outcomes[0].passed
    assert outcomes[0].second_code is None
    assert [(one.test, one.real) for one in failures] == [("example.org/a", False)]


def go_module(folder: Path, text: str) -> Path:
    """A module with a package of these tests, and one that passes."""
    for name, content in (("a", text), ("b", 'package b\n\nimport "testing"\n\nfunc TestB(*testing.T) {}\n')):
        (folder / "go" / name).mkdir(parents=True)
        (folder / "go" / name / f"{name}_test.go").write_text(content)
    (folder / "go" / "go.mod").write_text("module example.org\n\ngo 1.24\n")
    return folder / "go"


def go_stage(folder: Path) -> Stage:
    command = (sys.executable, "-m", go_tests.__name__)
    return Stage("go", "go-test", command, folder, second_try=command, mixed=True)


def test_failures_of_browser_tests_are_read_from_their_list(tmp_path: Path) -> None:
    log = tmp_path / "playwright.log"
    log.write_text(
        "playwright | noise\n"
        "  1 failed\n"
        "    [chromium] › specs/1-fleet.spec.ts:10:1 › the fleet is shown ─────\n"
        "  1 flaky\n"
        "    [chromium] › specs/2-rnic.spec.ts:32:1 › a drag zooms ────\n"
        "  2 skipped\n"
        "  60 passed (9.2m)\n"
    )
    failures = failures_of(tmp_path, Outcome(Stage("e2e", "playwright", ("run",)), 1, 1.0, 1.0, log))
    assert failures == [
        Failure("playwright", "[chromium] › specs/1-fleet.spec.ts:10:1 › the fleet is shown"),
        Failure("playwright", "[chromium] › specs/2-rnic.spec.ts:32:1 › a drag zooms", recovered=True),
    ]
