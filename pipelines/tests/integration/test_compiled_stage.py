"""The compiled stage of `classify` says what the plain one says."""

import os
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
    for scenario, length in (("all", "4m"), ("transport", "3m")):
        folder = tmp_path / scenario
        arguments = ["--scenario", hosts.scenario_file(scenario), "--out", folder, "--for", length, "--interval", "10s"]
        subprocess.run([binary("fleetsim"), "record", *arguments], check=True, capture_output=True)
        recordings.append(folder)
    plain, compiled = outcome("plain", recordings), outcome("compiled", recordings)
    assert (plain[0], compiled[0]) == (b".py", b".so")
    assert plain[1:] == compiled[1:]
    for shown in (*(f"S{n}" for n in range(1, 9)), "B2", "B5"):
        assert any(f'"symptom":"{shown}"'.encode() in line for line in plain), shown


def test_the_compiled_stage_passes_the_tests_of_odd_input() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "wallwatch_testing.compiled_stage", "-p", "no:cacheprovider"]
    path = {"PYTHONPATH": str(REPOSITORY / "tests/support")}
    tests = [str(REPOSITORY / "pipelines/tests/domain" / name) for name in ODD_INPUT]
    ended = subprocess.run([*command, *tests], env={**os.environ, **path}, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:]
