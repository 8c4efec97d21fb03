"""The collector on the captured sysfs tree of a GPU server (two ports of ConnectX-7 cards)."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.collector import Message, gather_once

REGISTRY = yaml.safe_load((REPOSITORY / "pipelines/wallwatch/domain/telemetry/metrics.yaml").read_text())["measurements"]["rnic"]
COSTS = {"collect_ms", "collect_cpu_ms"}
"""What the collector measured of itself, which differs from run to run."""
GOLDEN = Path(__file__).with_name("golden") / "sysfs_h100.json"


@pytest.fixture(scope="module")
def tree(external_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("h100")
    shutil.copytree(external_data / "captures" / "sysfs-h100", folder / "sys" / "class" / "infiniband")
    return folder


@pytest.fixture(scope="module")
def samples(tree: Path) -> dict[str, Message]:
    gathered = gather_once(tree, "gpu01", '[[inputs.rnic]]\n  sysfs_root = "sys"\n')
    assert {message.name for message in gathered} == {"rnic"}
    return {message.tags["ibdev"]: message for message in gathered}


def test_both_ports_are_found(samples: dict[str, Message]) -> None:
    assert set(samples) == {"mlx5_0", "mlx5_1"}


@pytest.mark.parametrize("device", ["mlx5_0", "mlx5_1"])
@pytest.mark.parametrize("folder", ["counters", "hw_counters"])
def test_every_captured_counter_has_the_value_of_its_file(samples: dict[str, Message], tree: Path, device: str, folder: str) -> None:
    files = sorted((tree / "sys/class/infiniband" / device / "ports/1" / folder).iterdir())
    assert len(files) > 20
    for file in files:
        text = file.read_text().strip()
        if text.isdigit():
            assert samples[device].fields.get(file.name) == int(text), file.name
        else:
            assert file.name not in samples[device].fields, f"{file.name} holds {text!r}, which is not a number"


@pytest.mark.parametrize("device", ["mlx5_0", "mlx5_1"])
def test_every_captured_counter_is_in_the_registry(tree: Path, device: str) -> None:
    for folder in ("counters", "hw_counters"):
        for file in (tree / "sys/class/infiniband" / device / "ports/1" / folder).iterdir():
            assert file.name in REGISTRY["fields"]


def test_the_whole_sample_is_as_it_was_when_it_was_checked_by_hand(samples: dict[str, Message]) -> None:
    expected = json.loads(GOLDEN.read_text())
    shown = {}
    for device, sample in samples.items():
        assert set(sample.fields) >= COSTS
        shown[device] = {"tags": sample.tags, "fields": {name: value for name, value in sample.fields.items() if name not in COSTS}}
    assert shown == expected


def test_an_unreadable_value_costs_that_value_only(tree: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(tree / "sys", damaged / "sys")
    counters = damaged / "sys/class/infiniband/mlx5_0/ports/1/counters"
    (counters / "port_xmit_wait").write_text("N/A (no PMA)\n")
    (counters / "symbol_error").write_text("")
    sample = next(m for m in gather_once(damaged, "gpu01", '[[inputs.rnic]]\n  sysfs_root = "sys"\n') if m.tags["ibdev"] == "mlx5_0")
    assert "port_xmit_wait" not in sample.fields
    assert "symbol_error" not in sample.fields
    assert sample.fields["values_missing"] == 2
    assert sample.fields["port_xmit_data"] == int((counters / "port_xmit_data").read_text())
