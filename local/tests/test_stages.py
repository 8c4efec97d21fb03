"""How the runner of all tests treats stages that fail, lanes that run side by side, and parts that there are not."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from wallwatch_local import parts
from wallwatch_local.errors import LocalStackError
from wallwatch_local.stages import Outcome, Runner, Stage, summary, table


def stage(name: str, script: str, repeats_end: bool = False) -> Stage:
    return Stage("part", name, ("bash", "-c", script), repeats_end=repeats_end)


def test_a_failing_stage_does_not_keep_the_next_from_running_but_fails_the_whole(tmp_path: Path) -> None:
    outcomes = Runner(tmp_path).run([[stage("one", "echo broken; exit 3"), stage("two", "echo fine")]])
    assert [outcome.verdict for outcome in outcomes] == ["FAILED (3)", "ok"]
    assert (tmp_path / "two.log").read_text() == "fine\n"
    end = summary(outcomes)
    assert "--- one: FAILED (3)\nbroken" in end
    assert "fine" not in end


def test_the_summary_of_a_runner_is_repeated_at_the_end(tmp_path: Path) -> None:
    outcomes = Runner(tmp_path).run([[stage("runner", "echo '7 passed'", repeats_end=True), stage("other", "echo noise")]])
    end = summary(outcomes)
    assert "7 passed" in end
    assert "noise" not in end


def test_an_interpreter_that_dies_is_shown_from_where_it_says_so(tmp_path: Path) -> None:
    script = "echo before; echo 'Fatal Python error: Segmentation fault'; echo in here; seq 1 60; exit 139"
    end = summary(Runner(tmp_path).run([[stage("died", script)]]))
    assert "Fatal Python error: Segmentation fault\nin here" in end
    assert "before" not in end


def test_the_table_has_what_each_stage_took(tmp_path: Path) -> None:
    outcomes = Runner(tmp_path).run([[stage("busy", "bash -c 'for ((i = 0; i < 200000; i++)); do :; done'"), stage("idle", "sleep 0.3")]])
    busy, idle = outcomes
    assert busy.cpu_s > 5 * idle.cpu_s
    assert idle.wall_s >= 0.3
    assert [line.split()[0] for line in table(outcomes).splitlines()] == ["stage", "busy", "idle"]


def test_lanes_run_in_parallel_with_prefixed_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.05; done; echo met"
    left, right = tmp_path / "left", tmp_path / "right"
    lanes = [[stage("l", meet.format(left, right))], [stage("r", meet.format(right, left))]]
    outcomes = Runner(tmp_path / "results").run(lanes)
    assert {outcome.code for outcome in outcomes} == {0}
    printed = capsys.readouterr().out
    assert "l | met" in printed
    assert "r | met" in printed


def test_a_stage_that_runs_alone_comes_first_and_has_ended_before_another_begins(tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    alone = replace(stage("alone", f"touch {first}; sleep 0.3; touch {last}"), alone=True)
    beside = stage("beside", f"test -e {last} || {{ echo too early; exit 1; }}")
    outcomes = Runner(tmp_path / "results").run([[beside], [replace(beside, name="before"), alone]])
    assert outcomes[0].stage.name == "alone"
    assert {outcome.stage.name: outcome.code for outcome in outcomes} == {"alone": 0, "beside": 0, "before": 0}


def test_a_stage_that_runs_alone_and_fails_does_not_keep_the_others_from_running(tmp_path: Path) -> None:
    outcomes = Runner(tmp_path).run([[replace(stage("alone", "exit 3"), alone=True), stage("next", "true")]])
    assert [(outcome.stage.name, outcome.code) for outcome in outcomes] == [("alone", 3), ("next", 0)]


def test_storms_of_packets_run_alone() -> None:
    assert [stage.part for lane in parts.lanes([]) for stage in lane if stage.alone] == ["packets"]


def test_who_stops_the_runner_stops_its_stages_in_time_to_clean_up(tmp_path: Path) -> None:
    cleaning = f"trap 'touch {tmp_path}/clean; exit 1' INT; touch {tmp_path}/started; while :; do sleep 0.05; done"
    program = f"""
from pathlib import Path
from wallwatch_local.signals import interruptible
from wallwatch_local.stages import Runner, Stage
stage = Stage("part", "loop", ("bash", "-c", {cleaning!r}))
with interruptible():
    Runner(Path({str(tmp_path)!r})).run([[stage, Stage("part", "next", ("touch", "{tmp_path}/next"))]])
"""
    runner = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(runner.pid, signal.SIGINT)
    assert runner.wait(120) != 0
    assert (tmp_path / "clean").exists()
    assert not (tmp_path / "next").exists()


def test_only_the_named_parts_are_run_one_after_another() -> None:
    lanes = parts.lanes(["go", "frontend"])
    assert [[stage.part for stage in lane] for lane in lanes] == [["go", "frontend"]]


def test_without_a_name_every_part_is_run_once() -> None:
    names = [stage.name for lane in parts.lanes([]) for stage in lane]
    assert len(names) == len(set(names))
    assert {stage.part for lane in parts.lanes([]) for stage in lane} == set(parts.PARTS) - set(parts.CONTEXTS)


def test_every_folder_of_python_tests_belongs_to_a_part() -> None:
    named = {folder for folders in parts.FOLDERS.values() for folder in folders}
    listed = subprocess.run(["git", "ls-files", "*test_*.py"], cwd=parts.REPOSITORY, capture_output=True, text=True, check=True)
    files = [file for file in listed.stdout.splitlines() if Path(file).name.startswith("test_")]
    assert files
    assert [file for file in files if not any(file.startswith(f"{folder}/") for folder in named)] == []


def test_the_workflow_runs_every_part_once() -> None:
    workflow = yaml.safe_load((parts.REPOSITORY / ".github" / "workflows" / "ci.yml").read_text())
    named = workflow["jobs"]["test"]["strategy"]["matrix"]["part"]
    assert sorted(named) == sorted(set(parts.PARTS) - set(parts.CONTEXTS))


@pytest.mark.parametrize("name", ["typo", "", "--only"])
def test_an_unknown_part_is_answered_with_the_parts(name: str) -> None:
    with pytest.raises(LocalStackError, match=r"unknown part .*lint frontend go"):
        parts.lanes([name])


def test_a_context_without_tests_is_reported_with_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parts, "BACKEND_TESTS", parts.REPOSITORY / "backend" / "no-tests")
    with pytest.raises(LocalStackError, match=r"folder backend/no-tests/remedies does not exist; the parts are"):
        parts.lanes(["remedies"])


def test_a_context_runs_the_folder_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "CONTEXTS", ("domain",))
    monkeypatch.setattr(parts, "BACKEND_TESTS", parts.REPOSITORY / "pipelines" / "tests")
    ((only,),) = parts.lanes(["domain"])
    assert only.command[-1] == "pipelines/tests/domain"


@pytest.mark.parametrize(
    ("names", "shared"), [(["lint", "go"], False), (["contract"], False), (["contract", "local"], True), (["backend"], True), ([], True)]
)
def test_servers_are_shared_where_several_processes_would_start_their_own(names: list[str], shared: bool) -> None:
    assert parts.needs_servers(parts.lanes(names)) is shared


def test_the_fast_tests_start_no_server() -> None:
    assert not parts.needs_servers(parts.fast())


def test_an_outcome_says_its_verdict() -> None:
    assert Outcome(stage("x", ""), -9, 0, 0, Path()).verdict == "FAILED (-9)"
