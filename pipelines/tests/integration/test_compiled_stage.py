"""The compiled stages of `classify` and `isolation` say what the plain ones say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wallwatch.jobs import compile_stage, compiled_stage
from wallwatch_local import hosts
from wallwatch_local.paths import REPOSITORY, binary

pytestmark = [pytest.mark.integration, pytest.mark.long, pytest.mark.timeout(1800)]

ODD_INPUT = (
    "test_bad_telemetry.py",
    "test_packed_window.py",
    "test_window.py",
    "test_events.py",
    "test_signals.py",
    "test_fleet_totals.py",
    "isolation",
    "isolation_live",
)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    if not compile_stage.has_compiler():
        pytest.skip("there is no C compiler, or Python has no headers")
    subprocess.run([sys.executable, "-m", "wallwatch.jobs.compile_stage"], check=True, capture_output=True, cwd=REPOSITORY)
    assert compiled_stage.folder().is_dir()


def outcome(how: str, recordings: list[Path]) -> list[bytes]:
    """What the stage says of some recordings; the file type of its module comes first."""
    command = [sys.executable, "-m", "wallwatch_testing.stage_outcome", how, *map(str, recordings)]
    path = {"PYTHONPATH": str(REPOSITORY / "tests/support"), "PYTHONHASHSEED": "0"}
    return subprocess.run(command, check=True, capture_output=True, env={**os.environ, **path}).stdout.splitlines()


def test_findings_and_states_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    recordings = []
    for scenario, length in (("all", "4m"), ("transport", "3m"), ("isolation", "4m")):
        folder = tmp_path / scenario
        arguments = ["--scenario", str(hosts.scenario_file(scenario)), "--out", str(folder), "--for", length, "--interval", "10s"]
        subprocess.run([binary("fleetsim"), "record", *arguments], check=True, capture_output=True)
        recordings.append(folder)
    plain, compiled = outcome("plain", recordings), outcome("compiled", recordings)
    assert (plain[0], compiled[0]) == (b".py", b".so")
    assert plain[1:] == compiled[1:]
    for shown in ("minute", "broken", "now"):
        assert any(f'"kind":"{shown}"'.encode() in line for line in plain), shown
    for shown in (*(f"S{n}" for n in range(1, 9)), "B2", "B5"):
        assert any(f'"symptom":"{shown}"'.encode() in line for line in plain), shown


def test_the_compiled_stages_pass_the_tests_of_odd_input() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "wallwatch_testing.compiled_stage", "-p", "no:cacheprovider"]
    path = {"PYTHONPATH": str(REPOSITORY / "tests/support")}
    tests = [str(REPOSITORY / "pipelines/tests/domain" / name) for name in ODD_INPUT]
    ended = subprocess.run([*command, *tests], env={**os.environ, **path}, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:]


@pytest.mark.parametrize("damage", ["module", "library"])
def test_a_damaged_build_leaves_the_plain_modules(tmp_path: Path, damage: str) -> None:
    """The job runs as plain Python, and says why."""
    copied = shutil.copytree(compiled_stage.folder(), tmp_path / "compiled")
    if damage == "module":
        (copied / compiled_stage.file_of(compiled_stage.MODULES[3])).unlink()
    else:
        (copied / compiled_stage.file_of(compiled_stage.LIBRARY)).write_bytes(b"no library")
    code = (
        "import logging, sys; from pathlib import Path; logging.basicConfig(level='INFO'); from wallwatch.jobs import compiled_stage as c;"
        f"c.folder = lambda: Path({str(copied)!r}); assert not c.use(); from wallwatch.domain.symptoms import host_stage;"
        "assert host_stage.__file__.endswith('.py')"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "runs as plain Python: " in ended.stderr
