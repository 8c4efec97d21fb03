"""The job `lab` against a real database: devices, campaigns, stops, resumed campaigns. The command line of the lab is played."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

import wallwatch_testing.lab_program as program
from wallwatch.jobs.lab import LabJob
from wallwatch.jobs.lab_run import PROGRAM as REAL_COMMAND
from wallwatch.settings import Settings
from wallwatch.store.lab import Connection

PROGRAM = (sys.executable, program.__file__)
PLANTED = Path(__file__).parents[1] / "lab" / "planted_device.py"
NEW = """
INSERT INTO lab_campaign (id, device, options, state, requested_by, created_at, updated_at)
VALUES (%s, %s, %s, 'queued', 'test', now(), now())
"""


class Lab:
    """Jobs on one database, and the campaigns that they run."""

    def __init__(self, url: str, folder: Path, connection: Connection) -> None:
        self.url, self.folder, self.connection = url, folder, connection

    def job(self, devices: dict[str, Any], runner: str = "runner", folder: str = "state", command: tuple[str, ...] = PROGRAM) -> LabJob:
        settings = Settings(database_url=self.url, state_dir=self.folder / folder, lab_devices=devices)
        job = LabJob(settings, command)
        job.runner = job._offers._runner = f"{runner}-{uuid4().hex[:6]}"  # several runners in one process
        return job

    def ask(self, device: str, **options: Any) -> str:
        campaign = str(uuid4())
        self.connection.execute(NEW, [campaign, device, json.dumps({"budget": 100, "max_time_s": 600, "seed": 1, **options})])
        return campaign

    def row(self, campaign: str) -> dict[str, Any]:
        query = "SELECT state, message, progress, report, runner FROM lab_campaign WHERE id = %s"
        found = self.connection.execute(query, [campaign]).fetchone()
        assert found is not None
        return dict(zip(("state", "message", "progress", "report", "runner"), found, strict=True))

    def tests(self, campaign: str) -> list[int]:
        query = "SELECT entry ->> 'n' FROM lab_test WHERE campaign_id = %s AND entry ->> 'kind' = 'test' ORDER BY line"
        return [int(row[0]) for row in self.connection.execute(query, [campaign])]

    def turn_until(self, job: LabJob, check: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 90
        while True:
            job.turn(self.connection)
            if check():
                return
            assert time.monotonic() < deadline, "not true within 90 s"
            time.sleep(0.05)

    def run_to_end(self, job: LabJob, campaign: str) -> dict[str, Any]:
        self.turn_until(job, lambda: self.row(campaign)["state"] not in ("queued", "running"))
        return self.row(campaign)


@pytest.fixture
def lab(migrated_url: str, jobs_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with psycopg.connect(migrated_url.replace("+psycopg", ""), autocommit=True) as connection:
        yield Lab(jobs_url, tmp_path, connection)


def dut() -> str:
    return f"dut-{uuid4().hex[:8]}"


def test_the_real_command_finds_the_planted_fault_of_a_device_and_its_report_is_in_the_database(lab: Lab) -> None:
    device = dut()
    job = lab.job({device: f"{sys.executable} {PLANTED}"}, command=REAL_COMMAND)
    job.turn(lab.connection)
    campaign = lab.ask(device, budget=500, parameters=["masks", "offload"])
    row = lab.run_to_end(job, campaign)
    assert (row["state"], row["message"]) == ("finished", None)
    report = row["report"]
    symptoms = [cause for cause in report["causes"] if cause["symptom"] == "S6"]
    assert len(symptoms) == 1, report["causes"]
    assert {"parameter": "masks", "last_good": 31, "first_bad": 32, "step": 1} in symptoms[0]["thresholds"]
    assert report["complete"] is True
    tests = lab.tests(campaign)
    assert tests == sorted(set(tests)), "each test once"
    configurations = "SELECT DISTINCT entry -> 'config' ->> 'mtu' FROM lab_test WHERE campaign_id = %s AND entry ->> 'kind' = 'test'"
    assert lab.connection.execute(configurations, [campaign]).fetchall() == [("1500",)], "the restricted parameter keeps its default"


def test_a_campaign_is_run_and_everything_is_in_the_database(lab: Lab) -> None:
    device = dut()
    job = lab.job({device: {"command": "tests=6", "model": "CX-6"}})
    job.turn(lab.connection)
    offered = lab.connection.execute("SELECT model, problem, description ->> 'name' FROM lab_device WHERE name = %s", [device]).fetchone()
    assert offered == ("CX-6", None, "simulated CX-6")
    campaign = lab.ask(device)
    row = lab.run_to_end(job, campaign)
    assert (row["state"], row["message"], row["report"]["complete"]) == ("finished", None, True)
    assert (row["progress"]["tests"], row["progress"]["bad"]) == (6, 2)
    assert lab.tests(campaign) == [1, 2, 3, 4, 5, 6]
    heads = lab.connection.execute("SELECT entry ->> 'dut' FROM lab_test WHERE campaign_id = %s AND line = 0", [campaign]).fetchall()
    assert heads == [(device,)], "the command does not reach the database"
    assert not (lab.folder / "state" / "lab" / campaign).exists()


def test_a_device_that_does_not_answer_is_shown_with_its_problem_and_gets_no_campaign(lab: Lab) -> None:
    device = dut()
    job = lab.job({device: "fail=no_such_model"})
    job.turn(lab.connection)
    assert lab.connection.execute("SELECT problem FROM lab_device WHERE name = %s", [device]).fetchone() == ("no such model",)
    campaign = lab.ask(device)
    job.turn(lab.connection)
    assert lab.row(campaign)["state"] == "queued"


def test_a_requested_stop_reaches_the_process(lab: Lab) -> None:
    device = dut()
    job = lab.job({device: "tests=100000 pause=0.01"})
    job.turn(lab.connection)
    campaign = lab.ask(device)
    lab.turn_until(job, lambda: lab.tests(campaign))
    lab.connection.execute(
        "UPDATE lab_campaign SET stop_requested_at = now(), stop_requested_by = 'dana', stop_reason = 'smoke' WHERE id = %s", [campaign]
    )
    row = lab.run_to_end(job, campaign)
    assert (row["state"], row["message"], row["report"]["complete"]) == ("stopped", "Stopped by dana: smoke", False)


@pytest.mark.parametrize("same_machine", [True, False])
def test_another_runner_continues_what_a_stopped_one_began(lab: Lab, same_machine: bool) -> None:
    device = dut()
    first = lab.job({device: "tests=40 pause=0.02"})
    first.turn(lab.connection)
    campaign = lab.ask(device)
    lab.turn_until(first, lambda: len(lab.tests(campaign)) >= 3)
    first._release(lab.connection)
    begun = lab.tests(campaign)
    assert lab.row(campaign)["state"] == "running"
    second = lab.job({device: "tests=40 pause=0.02"}, folder="state" if same_machine else "elsewhere")
    row = lab.run_to_end(second, campaign)
    assert (row["state"], row["progress"]["tests"]) == ("finished", 40)
    assert lab.tests(campaign) == list(range(1, 41)), f"each test once, the {len(begun)} of the first runner too"


def test_a_campaign_whose_search_crashes_fails_with_the_reason(lab: Lab) -> None:
    device = dut()
    job = lab.job({device: "tests=5 crash=3"})
    job.turn(lab.connection)
    campaign = lab.ask(device)
    row = lab.run_to_end(job, campaign)
    assert (row["state"], row["message"], row["report"]) == ("failed", "RuntimeError: a defect", None)
    assert lab.tests(campaign) == [1, 2]


def test_a_campaign_of_a_command_that_has_changed_since_is_not_continued(lab: Lab) -> None:
    device = dut()
    first = lab.job({device: "tests=100000 pause=0.01"})
    first.turn(lab.connection)
    campaign = lab.ask(device)
    lab.turn_until(first, lambda: lab.tests(campaign))
    first._release(lab.connection)
    row = lab.run_to_end(lab.job({device: "tests=3"}), campaign)
    assert row["state"] == "failed"
    assert "has changed since the campaign began" in row["message"]
