"""`wallwatch transport` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app

INTENT = """
requester: {nic: {type: CX6, ip-list: [10.0.0.1/24]}, roce-parameters: {adaptive-retrans: true}}
responder: {nic: {type: E810, ip-list: [10.0.0.2/24]}}
traffic:
  num-connections: 1
  rdma-verb: write
  num-msgs-per-qp: 1
  mtu: 1024
  message-size: 8192
  data-pkt-events:
    - {qpn: 1, psn: 4, type: drop}
"""
ENDS = [{"requester": {"ip": "10.0.0.1", "qpn": 254, "psn": 1001}, "responder": {"ip": "10.0.0.2", "qpn": 234, "psn": 3002}}]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["transport", *arguments])


@pytest.fixture
def intent(tmp_path: Path) -> Path:
    file = tmp_path / "intent.yml"
    file.write_text(INTENT)
    return file


def test_check_says_what_a_description_means(intent: Path) -> None:
    result = run("check", str(intent))
    assert result.exit_code == 0
    assert "1 connections from CX6 to E810, 1 write messages of 8 packets each, 1 events" in result.stdout
    assert json.loads(run("check", str(intent), "--json").stdout)["requester"]["roce-parameters"]["adaptive-retrans"] is True


def test_plan_prints_the_entries_of_the_switch(intent: Path, tmp_path: Path) -> None:
    ends = tmp_path / "ends.json"
    ends.write_text(json.dumps(ENDS))
    assert run("plan", str(intent), "--connections", str(ends)).stdout == "10.0.0.1 -> 10.0.0.2, QPN 0xea, PSN 1004: drop\n"
    assert json.loads(run("plan", str(intent), "--connections", str(ends), "--json").stdout) == [
        {"source": "10.0.0.1", "destination": "10.0.0.2", "qpn": 234, "psn": 1004, "iteration": 1, "action": "drop"}
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[", b"a: b: c", b"traffic: 3"])
def test_what_is_no_description_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.yml"
    file.write_bytes(content)
    result = run("check", str(file))
    assert result.exit_code == 2
    assert str(file) in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in run("check", str(tmp_path / "absent.yml")).stderr


def test_the_description_of_the_documentation_is_valid(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "transport.md").read_text()
    file = tmp_path / "intent.yml"
    file.write_text(text.split("```yaml\n")[1].split("```")[0])
    assert run("check", str(file)).exit_code == 0
