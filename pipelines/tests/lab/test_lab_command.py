"""`wallwatch lab`: output, exit codes, signals, and SIGKILL at random places."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wallwatch.cli.lab import app
from wallwatch.cli.lab_running import seconds_of
from wallwatch.cli.lab_text import condition_text
from wallwatch.lab.campaign import run

run_command = CliRunner().invoke
Command = Callable[..., str]
COMMAND = [sys.executable, "-c", "from wallwatch.cli.main import app; app()", "lab"]


@pytest.fixture(scope="module")
def campaign(planted: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign."""
    folder = tmp_path_factory.mktemp("lab") / "campaign"
    ran = run_command(app, ["run", "--dut", planted(), "--out", str(folder)])
    assert ran.exit_code == 0, ran.output
    return folder


def test_a_device_is_described_as_text_and_as_json(planted: Command) -> None:
    text = run_command(app, ["describe", "--dut", planted()]).stdout
    for words in ("1 to 64", "eSwitch", "bw_gbps (Gbit/s, higher is better)", "waits up to 5 s", "20 tests"):
        assert words in text
    described = json.loads(run_command(app, ["describe", "--dut", planted(), "--json"]).stdout)
    assert described["protocol"] == "dut/1"
    assert len(described["parameters"]) == 3


def test_a_campaign_finds_the_planted_fault_and_prints_only_json(planted: Command, tmp_path: Path) -> None:
    ran = run_command(app, ["run", "--dut", planted(), "--out", str(tmp_path / "c"), "--json", "--parallel", "2"])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)
    assert [cause["symptom"] for cause in report["causes"]] == ["S6"]
    found = {condition["parameter"]: (condition["op"], condition["value"]) for condition in report["causes"][0]["conditions"]}
    assert found == {"masks": (">=", 32), "offload": ("==", True)}
    assert json.loads((tmp_path / "c" / "report.json").read_text()) == report
    assert "journal and report in" in ran.stderr
    assert "tests and resets in" in ran.stderr


def test_a_report_says_which_parameters_varied_and_compares_only_those_with_brute_force(planted: Command, tmp_path: Path) -> None:
    command = ["run", "--dut", planted(), "--out", str(tmp_path / "c"), "--only", "masks"]
    ran = run_command(app, command)
    assert ran.exit_code == 0, ran.output
    text = " ".join(run_command(app, ["report", str(tmp_path / "c")]).stdout.split())
    assert "varied masks only; the other 2 parameters kept their defaults" in text
    assert "up to five values of each make 5 combinations; the other tests locate limits and confirm causes" in text
    assert "every level of masks is covered" in text


def test_the_report_is_printed_again(campaign: Path) -> None:
    text = run_command(app, ["report", str(campaign)]).stdout
    assert "1. S6 when masks >= 32 and offload == true" in text
    assert "masks: 31 is good, 32 fails (step 1)" in text
    assert "the same with masks=31" in text
    assert json.loads(run_command(app, ["report", str(campaign), "--json"]).stdout)["complete"]


def test_a_reproducer_is_run_again(planted: Command, campaign: Path) -> None:
    ran = run_command(app, ["replay", str(campaign)])
    assert ran.exit_code == 0, ran.output
    assert "still behaves as reported" in ran.stdout
    found = json.loads(run_command(app, ["replay", str(campaign), "--case", "1", "--json"]).stdout)
    assert [(one["name"], one["is_bad"], one["holds"]) for one in found["runs"]] == [("failing", True, True), ("passing", False, True)]


def test_a_repaired_device_no_longer_behaves_as_reported(planted: Command, campaign: Path, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired.sh"
    repaired.write_text(f"""{planted()} | sed -u 's/"symptoms": ."S6".,/"symptoms": [],/; s/: 40.0/: 98.0/'\n""")
    # The description lists S6 as the only symptom too; the same replacement must leave it alone.
    repaired.write_text(repaired.read_text().replace("sed -u '", "sed -u '/protocol/b; "))
    ran = run_command(app, ["replay", str(campaign), "--dut", f"sh {repaired}"])
    assert ran.exit_code == 1, ran.output
    assert "no longer behaves as reported" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["describe", "--dut", "false"], "did not describe itself: it ended with exit code 1"),
        (["run", "--dut", "/nowhere/device"], "cannot be started"),
        (["run", "--dut", "DEVICE", "--strategy", "guess"], "choose from adaptive, exhaustive, random, one-factor, pairwise"),
        (["run", "--dut", "DEVICE", "--target", "S7"], "has the symptoms and metrics S6, bw_gbps"),
        (["run", "--dut", "DEVICE", "--max-time", "soon"], "is no duration"),
        (["run", "--dut", "DEVICE", "--out", "CAMPAIGN"], "wallwatch lab resume"),
        (["resume", "EMPTY"], "give the folder of a campaign"),
        (["report", "EMPTY"], "holds no report.json"),
        (["replay", "CAMPAIGN", "--case", "2"], "no cause 2: it has 1"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2(
    planted: Command, campaign: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    places = {"DEVICE": planted(), "CAMPAIGN": str(campaign), "EMPTY": str(tmp_path)}
    ran = run_command(app, [places.get(one, one) for one in arguments])
    assert ran.exit_code == 2, ran.output
    assert words in re.sub(r"[\s│]+", " ", ran.stderr)
    assert ran.stdout == ""


def test_a_cut_off_run_is_incomplete_and_its_report_too(planted: Command, tmp_path: Path) -> None:
    ran = run_command(app, ["run", "--dut", planted(), "--out", str(tmp_path / "c"), "--budget", "9"])
    assert ran.exit_code == 3
    assert "INCOMPLETE: budget reached" in ran.stdout
    assert run_command(app, ["report", str(tmp_path / "c")]).exit_code == 3


def test_the_default_folder_names_the_device(planted: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(app, ["run", "--dut", planted(), "--budget", "3"]).exit_code == 3
    assert [bool(re.fullmatch(r"lab-planted-\d{8}T\d{6}Z", one.name)) for one in tmp_path.iterdir()] == [True]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_campaign_after_the_running_test(planted: Command, tmp_path: Path, number: signal.Signals, code: int) -> None:
    folder = tmp_path / "c"
    command = [*COMMAND, "run", "--dut", planted(), "--out", str(folder), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"DUT_DELAY_S": "0.2"})
    journal = folder / "journal.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not journal.exists() or journal.read_bytes().count(b"\n") < 3):
        time.sleep(0.01)
    running.send_signal(number)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == code, stderr
    report = json.loads(stdout)
    assert (report["complete"], report["stopped"]) == (False, f"interrupted by {number.name}")
    kinds = Counter(json.loads(line)["kind"] for line in journal.read_text().splitlines())
    assert kinds["test"] == report["tests"]
    assert kinds["end"] == 1
    resumed = run_command(app, ["resume", str(folder), "--json"])
    assert resumed.exit_code == 0
    assert json.loads(resumed.stdout)["complete"]


@pytest.mark.long
def test_killed_at_twenty_random_places_the_report_is_the_same_and_no_finished_test_is_repeated(planted: Command, tmp_path: Path) -> None:
    from wallwatch.lab.options import CampaignOptions

    script = Path(__file__).with_name("killed.py")
    environment = os.environ | {"DUT_DELAY_S": "0.002", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), planted(), str(tmp_path), "20", "7"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["kills"] == 20
    assert len(found["campaigns"]) > 1, "one with one process and one with three"
    expected = [run(tmp_path / f"whole-{parallel}", planted(), CampaignOptions(parallel=parallel)) for parallel in (1, 3)]
    for i, one in enumerate(found["campaigns"]):
        assert one["code"] == 0, ran.stderr
        report = json.loads((tmp_path / f"campaign-{i}" / "report.json").read_text())
        assert report | {"seconds": 0} == expected[i % 2] | {"seconds": 0}
        asked = len((tmp_path / f"ledger-{i}").read_text().splitlines())
        assert report["tests"] <= asked <= report["tests"] + one["kills"] * (1, 3)[i % 2], "only what ran at the kill is repeated"


def test_a_built_in_device_gets_the_arguments_after_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    adaptors = types.ModuleType("wallwatch.lab.adaptors")
    taken: list[list[str]] = []

    def serve(arguments: list[str]) -> int:
        taken.append(arguments)
        return 4

    vars(adaptors).update(ADAPTORS={"mine": "wallwatch.lab.adaptors:serve"}, DESCRIPTIONS={"mine": "a device"}, serve=serve)
    monkeypatch.setitem(sys.modules, "wallwatch.lab.adaptors", adaptors)
    assert run_command(app, ["device"]).stdout == "mine       a device\n"
    assert run_command(app, ["device", "mine", "--help", "--ports", "3", "x"]).exit_code == 4
    assert taken == [["--help", "--ports", "3", "x"]]
    refused = run_command(app, ["device", "other"])
    assert refused.exit_code == 2
    assert "no built-in device other: choose from mine" in refused.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("4h", 14400), ("1h30m", 5400), ("90s", 90), ("90", 90), ("2 min", 120), ("0.5h", 1800), (None, None)]
)
def test_durations_are_read(text: str | None, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"parameter": "mtu", "op": "in", "value": [1500, 9000]}, "mtu in [1500, 9000]"),
        ({"parameter": None, "op": ">=", "expression": "qps*message_kib", "value": 4096}, "qps*message_kib >= 4096"),
        ({"parameter": "order", "op": "before", "value": ["vf", "flow"]}, "order: vf before flow"),
    ],
)
def test_conditions_are_written_as_people_do(condition: dict[str, object], text: str) -> None:
    assert condition_text(condition) == text
