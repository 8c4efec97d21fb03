"""A second try: which failures get one, what it changes, and what the last lines of a run say."""

import sys
from pathlib import Path

from wallwatch_local import parts, run_tests
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


PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "wallwatch_local.pytest_plugin")


def stage(folder: Path, name: str, *modules: str, again: bool = True) -> Stage:
    return Stage("local", name, (*PYTEST, *modules), folder, second_try=PYTEST if again else ())


def module(folder: Path, name: str, text: str) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n")
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
    assert {stage.part for lane in parts.lanes([]) for stage in lane if stage.second_try} == set(parts.REAL_PARTS)


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
