"""A campaign as a process: what its files and its exit code become, and that the device's command stays with the runner."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import wallwatch_testing.lab_program as program
from wallwatch.jobs.lab_run import CampaignProcess, CommandChanged, Ended, Follower, arguments, restore
from wallwatch.settings import Settings
from wallwatch.store.lab import CampaignState

PROGRAM = (sys.executable, program.__file__)
OPTIONS = {"budget": 100, "max_time_s": 60, "seed": 3, "strategy": "adaptive", "parallel": 1, "target": None, "parameters": None}


@pytest.fixture(autouse=True)
def _path_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def end_of(process: CampaignProcess) -> Ended:
    assert process.wait(60)
    ended = process.ended()
    assert ended is not None
    return ended


def test_a_campaign_ends_with_its_report_and_a_tally_of_its_journal(tmp_path: Path) -> None:
    process = CampaignProcess(tmp_path / "c", "dut", "tests=6", OPTIONS, PROGRAM)
    ended = end_of(process)
    lines = process.unsent_lines()
    assert (ended.state, ended.message) == (CampaignState.finished, None)
    assert ended.report is not None
    assert ended.report["complete"] is True
    assert [number for number, _ in lines] == list(range(8))
    assert process.tally.to_json() == {
        "tests": 6, "resets": 0, "bad": 2, "errors": 0, "seconds": 3.0, "phase": "discover", "phases": {"discover": 6},
    }  # fmt: skip
    assert lines[0][1]["dut"] == "dut", "the command is the runner's own affair"


def test_lines_are_kept_until_the_database_has_them(tmp_path: Path) -> None:
    process = CampaignProcess(tmp_path / "c", "dut", "tests=2", OPTIONS, PROGRAM)
    end_of(process)
    lines = process.unsent_lines()
    assert process.unsent_lines() == lines
    assert process.tally.tests == 2, "counted once"
    process.sent(len(lines))
    assert process.unsent_lines() == []


@pytest.mark.parametrize(
    ("command", "state", "says"),
    [
        ("fail=no_such_model", CampaignState.failed, "no such model"),
        ("tests=3 crash=2", CampaignState.failed, "RuntimeError: a defect"),
        ("tests=1 why=budget_reached", CampaignState.finished, "budget reached"),
        ("tests=1 why=device_failed:_it_closed_its_output", CampaignState.failed, "Device failed: it closed its output"),
    ],
)
def test_an_end_that_is_not_good_has_its_reason(tmp_path: Path, command: str, state: CampaignState, says: str) -> None:
    ended = end_of(CampaignProcess(tmp_path / "c", "dut", command, OPTIONS, PROGRAM))
    assert (ended.state, ended.message) == (state, says)


def test_a_stop_ends_the_search_after_the_running_test_and_keeps_the_report(tmp_path: Path) -> None:
    process = CampaignProcess(tmp_path / "c", "dut", "tests=100000 pause=0.01", OPTIONS, PROGRAM)
    deadline = time.monotonic() + 60
    while process.tally.tests == 0:
        process.unsent_lines()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.ended() is None
    process.stop("Stopped by dana.")
    ended = end_of(process)
    assert (ended.state, ended.message) == (CampaignState.stopped, "Stopped by dana.")
    assert ended.report is not None
    assert ended.report["complete"] is False


def test_a_search_that_is_killed_says_so(tmp_path: Path) -> None:
    process = CampaignProcess(tmp_path / "c", "dut", "tests=100000 pause=0.01", OPTIONS, PROGRAM)
    process._signal(signal.SIGKILL)
    ended = end_of(process)
    assert (ended.state, ended.report) == (CampaignState.failed, None)
    assert ended.message == "The search was killed by signal 9; its journal has every finished test."


def test_a_campaign_goes_on_from_its_journal_and_repeats_no_test(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    head = {"kind": "campaign", "version": 1, "dut": "another machine's command", "options": {}}
    restore(folder, [head, *({"kind": "test", "n": n} for n in (1, 2))], "tests=4")
    process = CampaignProcess(folder, "dut", "tests=4", OPTIONS, PROGRAM)
    assert end_of(process).state is CampaignState.finished
    assert [line["n"] for _, line in process.unsent_lines() if line["kind"] == "test"] == [1, 2, 3, 4]


def test_a_journal_of_another_command_is_not_continued(tmp_path: Path) -> None:
    restore(tmp_path / "c", [{"kind": "campaign", "dut": ""}], "tests=4")
    with pytest.raises(CommandChanged, match="has changed since the campaign began"):
        CampaignProcess(tmp_path / "c", "dut", "tests=5", OPTIONS, PROGRAM)


def test_a_journal_whose_head_is_torn_begins_again(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "journal.jsonl").write_text('{"kind": "camp')
    process = CampaignProcess(tmp_path / "c", "dut", "tests=1", OPTIONS, PROGRAM)
    assert end_of(process).state is CampaignState.finished
    assert process.unsent_lines()[0][1]["kind"] == "campaign"


def test_a_torn_line_waits_until_it_is_whole_and_one_that_is_no_json_is_left_out(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    follower = Follower(journal, "dut")
    assert follower.new_lines() == []
    journal.write_text('{"n": 1}\n{"n": ')
    assert follower.new_lines() == [(0, {"n": 1})]
    with journal.open("a") as file:
        file.write('2}\nno json\n[]\n{"n": 3}\n')
    assert follower.new_lines() == [(1, {"n": 2}), (4, {"n": 3})]


def test_options_become_arguments() -> None:
    given = arguments("dut", {**OPTIONS, "target": "S6", "parameters": ["a", "b"]}, Path("out"))
    assert given == [
        "run", "--dut", "dut", "--out", "out", "--json", "--budget", "100", "--target", "S6", "--seed", "3", "--strategy", "adaptive",
        "--parallel", "1", "--max-time", "60s", "--only", "a,b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("devices", "says"),
    [
        ({"dut": ""}, "at least 1 character"),
        ({"dut": {"command": "dut", "host": "h1"}}, "host and pci"),
        ({"dut": {"command": "dut", "colour": "blue"}}, "colour"),
    ],
)
def test_a_device_that_is_set_wrongly_is_named(monkeypatch: pytest.MonkeyPatch, devices: Any, says: str) -> None:
    monkeypatch.setenv("WALLWATCH_LAB_DEVICES", json.dumps(devices))
    with pytest.raises(ValidationError, match=says):
        Settings()


def test_devices_are_commands_or_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_LAB_DEVICES", json.dumps({"a": "dut --x", "b": {"command": "dut", "model": "CX-6"}}))
    devices = Settings().lab_devices
    assert (devices["a"].command, devices["b"].model) == ("dut --x", "CX-6")
