"""What a setup may allow, and what keeps the lab from an RNIC."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch.lab.adaptors.perftest.guard import Guard, Refused, not_cordoned
from wallwatch.lab.adaptors.perftest.setup import BadSetup, load, parsed
from wallwatch_testing import perftest_host as host
from wallwatch_testing.perftest_host import PCI, Recorder


def test_a_setup_narrows_the_limits(tmp_path: Path) -> None:
    setup = parsed(host.content(tmp_path))
    ranges = {parameter.name: parameter for parameter in setup.parameters}
    assert (ranges["masks"].minimum, ranges["masks"].maximum, ranges["masks"].default, ranges["masks"].scale) == (0, 32, 0, "linear")
    assert (ranges["flows_per_mask"].minimum, ranges["flows_per_mask"].scale) == (1, "log")
    assert ranges["verb"].values == ("write", "send", "read")


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump])
def test_a_setup_is_yaml_or_json(tmp_path: Path, write: Any) -> None:
    (tmp_path / "setup").write_text(write(host.content(tmp_path)))
    assert load(tmp_path / "setup").pci == PCI


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pci": "3b:00.0"}, "pci has an invalid format"),
        ({"netdev": "uplink0; reboot"}, "netdev has an invalid format"),
        ({"peer": "-oProxyCommand=x"}, "peer has an invalid format"),
        ({"stop_file": "stop"}, "stop_file must be an absolute path"),
        ({"health_command": "true"}, "health_command must be a list"),
        ({"changes_per_second": 2000}, "at most 1000"),
        ({"changes_per_second": 0}, "above 0"),
        ({"changes_per_second": True}, "not True"),
        ({"run_seconds": 0}, "run_seconds must be a whole number from 1 to 60"),
        ({"colour": 1}, "unknown entries: ['colour']"),
        ({"parameters": {}}, "must name what may vary"),
        ({"parameters": {"firmware": {}}}, "the lab cannot vary 'firmware'"),
        ({"parameters": {"masks": {"max": 257}}}, "masks must be a whole number from 0 to 256"),
        ({"parameters": {"masks": {"min": 8, "max": 4}}}, "min <= max"),
        ({"parameters": {"masks": {"max": 8, "default": 9}}}, "the default is outside the range"),
        ({"parameters": {"masks": {"values": [1]}}}, "must be an object of default, max, min, step"),
        ({"parameters": {"verb": {"values": ["atomic"]}}}, "verb may only have values of"),
        ({"changes_per_second": 1, "parameters": {"masks": {}, "flows_per_mask": {}}}, "raise changes_per_second"),
    ],
)
def test_a_setup_that_allows_more_or_is_unclear_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadSetup) as refusal:
        parsed(host.content(tmp_path, **changes))
    assert reason in str(refusal.value)


def test_a_setup_without_an_entry_or_file_is_refused(tmp_path: Path) -> None:
    entries = host.content(tmp_path)
    del entries["health_command"]
    with pytest.raises(BadSetup, match="missing entries: \\['health_command'\\]"):
        parsed(entries)
    with pytest.raises(BadSetup, match="cannot be read"):
        load(tmp_path / "absent")
    (tmp_path / "torn").write_text("{torn")
    with pytest.raises(BadSetup, match="cannot be read"):
        load(tmp_path / "torn")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "is not cordoned"),
        ("{torn", "cannot be read"),
        ("[]", "is not a cordon of"),
        ('{"pci": "0000:3b:00.1"}', "is not a cordon of"),
        (f'{{"pci": "{PCI}", "reason": "lab", "remedy_id": "r", "command_id": "c", "at": "2026-01-01T00:00:00Z"}}', None),
    ],
)
def test_only_the_agents_cordon_of_this_rnic_counts(tmp_path: Path, record: str | None, reason: str | None) -> None:
    if record is not None:
        host.cordon(tmp_path, record)
    found = not_cordoned(tmp_path / "cordon", PCI)
    assert found is None if reason is None else found is not None and reason in found


def test_the_emergency_stop_and_a_complaint_of_the_host_refuse(tmp_path: Path) -> None:
    host.cordon(tmp_path)
    executor = Recorder()
    guard = Guard(parsed(host.content(tmp_path)), executor)
    guard.check()
    guard.check_health()
    (tmp_path / "stop").touch()
    with pytest.raises(Refused, match="emergency stop"):
        guard.check()
    (tmp_path / "stop").unlink()
    guard.check()
    executor.failing = {"health"}
    with pytest.raises(Refused, match="complains, so the lab has stopped"):
        guard.check_health()
    executor.failing = set()
    with pytest.raises(Refused, match="complains, so the lab has stopped"):
        guard.check()
