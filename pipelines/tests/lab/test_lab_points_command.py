"""`wallwatch lab points`: from a device's tests to a calibration that `wallwatch calibrate` reads."""

import shlex
import sys
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from wallwatch.cli.calibrate import app as calibrate_app
from wallwatch.cli.lab import app
from wallwatch.domain.calibration.result import Calibration

run_command = CliRunner().invoke

DEVICE = """
import json, sys
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us

card = profiles()["CX-6"].performance.model_copy(update={"u": 250.0, "w": 20.0})
masks = [{"name": name, "kind": "integer", "min": 1, "max": 160, "step": 1, "component": "masks"} for name in NAMES]
metrics = [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}, {"name": "latency_us", "unit": "us", "better": "lower"}]
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked.get("id"), "status": "ok"}
    if asked["op"] == "describe":
        answer |= {"protocol": "dut/1", "name": "a card", "parameters": masks, "default": dict.fromkeys(NAMES, 1), "metrics": metrics,
                   "symptoms": []}
    elif asked["op"] == "test":
        q_l, q_r = ((asked["config"][name] - 1) / 2 for name in NAMES)
        answer |= {"symptoms": [], "metrics": {"bw_gbps": bandwidth_gbps(card, q_l, q_r), "latency_us": latency_us(card, q_l, q_r)}}
    print(json.dumps(answer), flush=True)
"""


def campaign(folder: Path, *names: str) -> Path:
    """A campaign on a card that differs from the profile of the CX-6."""
    device = folder / "device.py"
    device.write_text(f"NAMES = {list(names)!r}\n{DEVICE}")
    dut = shlex.join([sys.executable, str(device)])
    ran = run_command(app, ["run", "--dut", dut, "--budget", "120", "--timeout", "120", "--out", str(folder / "campaign")])
    assert ran.exit_code in (0, 3), ran.output
    return folder / "campaign"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campaign(tmp_path_factory.mktemp("points"), "masks_egress", "masks_ingress")


def points(folder: Path, *more: str, verb: str = "write") -> tuple[int, str, str]:
    ran = run_command(app, ["points", str(folder), "--verb", verb, "--message-bytes", "65536", *more])
    return ran.exit_code, ran.stdout, ran.stderr


def test_the_tests_of_a_campaign_become_a_calibration_that_calibrate_reads(done: Path, tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    code, text, problems = points(done, "--profile", "CX-5", "--out", str(file))
    assert code == 0, problems
    assert "profile CX-5, verb write" in text
    found = Calibration.model_validate_json(file.read_bytes())
    assert found.accepted
    assert found.candidate is not None
    assert found.candidate.w == pytest.approx(20.0, rel=0.05)
    again = run_command(calibrate_app, ["perftest", "--current", str(file), str(tmp_path / "nothing.log")])
    assert "is not the output" not in again.stderr


def test_json_is_the_same_document(done: Path) -> None:
    code, text, _ = points(done, "--profile", "CX-5", "--json")
    assert code == 0
    assert Calibration.model_validate(orjson.loads(text)).profile == "CX-5"


@pytest.mark.parametrize(
    ("verb", "more", "reason"),
    [
        ("read", (), "--verb must be send or write"),
        ("write", ("--profile", "CX-99"), "unknown profile"),
        ("write", ("--out", "/no/x"), "--out"),
    ],
)
def test_options_that_cannot_be_used_are_refused(done: Path, verb: str, more: tuple[str, ...], reason: str) -> None:
    code, _, problem = points(done, *more, verb=verb)
    assert (code, reason in problem) == (2, True), problem


def test_a_campaign_without_masks_says_how_to_get_points(tmp_path: Path) -> None:
    code, _, problem = points(campaign(tmp_path, "colour", "shape"))
    assert code == 2
    assert "run the search with --only masks_egress,masks_ingress" in problem
    code, _, problem = points(tmp_path)
    assert code == 2
    assert "holds no journal.jsonl" in problem
