"""How the runner of all tests treats stages that fail."""

import subprocess
from pathlib import Path

from wallwatch_local.paths import REPOSITORY


def run(script: str, results: Path) -> subprocess.CompletedProcess[str]:
    lines = f"set -uo pipefail\nRESULTS={results}\n{script}"
    return subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False, cwd=REPOSITORY / "local")


def test_a_failing_stage_does_not_keep_the_next_from_running_but_fails_the_whole(tmp_path: Path) -> None:
    done = run(". ./stages.sh; stage a one bash -c 'echo broken; exit 3'; stage a two echo fine; sum_up", tmp_path)
    assert done.returncode == 1
    assert "--- one: FAILED (3)" in done.stdout
    assert "--- two: ok" in done.stdout
    assert (tmp_path / "two.log").read_text() == "fine\n"


def test_the_summary_of_a_runner_is_repeated_at_the_end(tmp_path: Path) -> None:
    done = run(". ./stages.sh; stage a runner echo '7 passed'; stage a other echo noise; sum_up runner", tmp_path)
    assert done.returncode == 0
    end = done.stdout.split("=== summaries")[1]
    assert "7 passed" in end
    assert "noise" not in end


def test_only_the_chosen_group_is_run(tmp_path: Path) -> None:
    done = run("only=b; . ./stages.sh; stage a one echo first; stage b two echo second; sum_up", tmp_path)
    assert done.returncode == 0
    assert "first" not in done.stdout
    assert "second" in done.stdout


def test_a_group_without_stages_is_an_error(tmp_path: Path) -> None:
    done = run("only=typo; . ./stages.sh; stage a one echo first; sum_up", tmp_path)
    assert done.returncode == 1
    assert "no stage was run" in done.stdout
