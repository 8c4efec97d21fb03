"""The parts of setup that decide what is done: stamps, versions and errors."""

import os
import subprocess
from pathlib import Path

import pytest

from wallwatch_local.paths import REPOSITORY

SETUP = REPOSITORY / "local" / "setup"


def shell(script: str, tools: Path) -> subprocess.CompletedProcess[str]:
    lines = f"set -euo pipefail\n. {SETUP}/common.sh\n. {SETUP}/apt.sh\n. {SETUP}/runtimes.sh\n{script}"
    environment = {**os.environ, "WALLWATCH_TOOLS_DIR": str(tools)}
    return subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False, env=environment)


def test_a_step_is_skipped_only_while_its_inputs_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "file").write_text("one")
    stamp = f'stamp step "$(hash_of @{tmp_path}/input)"'
    check = f'unchanged step "$(hash_of @{tmp_path}/input)"'
    assert shell(check, tmp_path).returncode == 1
    assert shell(f"{stamp}; {check}", tmp_path).returncode == 0
    (tmp_path / "input" / "file").write_text("two")
    assert shell(check, tmp_path).returncode == 1


def test_a_renamed_input_changes_the_hash_and_a_built_page_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "input"
    (folder / "dist").mkdir(parents=True)
    (folder / "file").write_text("one")
    hash_now = f"hash_of @{folder}"
    first = shell(hash_now, tmp_path).stdout
    (folder / "dist" / "page").write_text("built")
    assert shell(hash_now, tmp_path).stdout == first
    (folder / "file").rename(folder / "other")
    assert shell(hash_now, tmp_path).stdout != first


@pytest.mark.parametrize(
    ("found", "minimum", "enough"), [("3.11", "3.11", True), ("3.9", "3.11", False), ("1.24.4", "1.24", True), ("17.0.15", "21", False)]
)
def test_versions_are_compared_as_numbers(tmp_path: Path, found: str, minimum: str, enough: bool) -> None:
    assert (shell(f"version_at_least {found} {minimum}", tmp_path).returncode == 0) == enough


def test_an_old_runtime_without_a_package_is_an_error_that_says_how_to_get_it(tmp_path: Path) -> None:
    done = shell("old() { echo 1.2; }; have_apt() { false; }; want thing old 9 'install thing 9' no-such-package", tmp_path)
    assert done.returncode == 1
    assert "thing 9 or newer is required, found 1.2" in done.stderr
    assert "What to do: install thing 9" in done.stderr


def test_a_failing_command_is_shown_with_the_end_of_its_log(tmp_path: Path) -> None:
    done = shell("run_logged test-step 'try again' bash -c 'echo no route to registry; exit 3'", tmp_path)
    assert done.returncode == 1
    assert "no route to registry" in done.stderr
    assert "What to do: try again" in done.stderr


def test_setup_requires_root(tmp_path: Path) -> None:
    done = shell("id() { echo 1000; }; need_root thing 'the package thing'", tmp_path)
    assert done.returncode == 1
    assert "only root can do that" in done.stderr
    assert "sudo make setup" in done.stderr


def test_an_unknown_step_is_answered_with_the_known_ones() -> None:
    done = subprocess.run([str(SETUP.parent / "setup.sh"), "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "choose from: system runtimes postgres" in done.stderr


def test_make_help_lists_every_task() -> None:
    done = subprocess.run(["make", "--no-print-directory", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    declared = {line.split()[1] for line in (REPOSITORY / "Makefile").read_text().splitlines() if line.startswith(".PHONY")}
    assert {line.split()[1] for line in done.stdout.splitlines()} == declared
