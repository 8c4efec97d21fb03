"""What the collector emits for network functions on the cards of a simulated host is in the registry, and has what models need."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.collector import FILE_OUTPUT, Message, collecting, messages
from wallwatch_testing.simulator import simulating

REGISTRY: dict[str, Any] = yaml.safe_load((REPOSITORY / "pipelines/wallwatch/domain/telemetry/metrics.yaml").read_text())["measurements"][
    "network_function"
]
INPUT = """
[[inputs.nf]]
  functions = "functions.d"
  cgroup_root = "sys/fs/cgroup"
  proc_root = "proc"
  sysfs_root = "sys"
  perf = "perf"
  working_set = "referenced"
  working_set_interval = "10s"
"""
TYPES = {"int": (int,), "float": (int, float), "text": (str,)}
NEEDED = {
    "instructions_per_cycle", "instructions_per_s", "cache_reads_per_s", "cache_writes_per_s", "memory_reads_per_s", "memory_writes_per_s",
    "working_set_mb", "cpu_share", "cores", "flows", "packet_bytes", "throughput_kpps", "offered_kpps",
}  # fmt: skip


@pytest.fixture(scope="module")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    found: list[Message] = []
    with simulating(tmp_path_factory.mktemp("m"), "contention", speed=4) as folders:
        host: Path = next(folder for folder in folders if folder.name == "host01")
        with collecting(host, host.name, INPUT, FILE_OUTPUT.format(path=host / "emitted.json")):
            deadline = time.monotonic() + 240
            while time.monotonic() < deadline and not complete(found):
                time.sleep(0.5)
                found = messages(host / "emitted.json")
    return found


def complete(found: list[Message]) -> bool:
    return {(m.tags["function"], m.tags["pci"]) for m in found if set(m.fields) >= NEEDED} >= {
        ("flowmonitor", "0000:17:00.0"),
        ("flowstats", "0000:17:00.0"),
        ("flowmonitor", "0000:3b:00.0"),
        ("nids", "0000:3b:00.0"),
    }


def test_each_function_of_the_host_has_all_that_models_need(emitted: list[Message]) -> None:
    assert complete(emitted)
    assert {m.tags["pod"] for m in emitted} >= {"edge/flowmonitor-a", "edge/flowstats-a", "edge/flowmonitor-b", "edge/nids-b"}


def test_tags_fields_and_types_are_those_of_the_registry(emitted: list[Message]) -> None:
    for message in emitted:
        assert message.name == "network_function"
        assert set(message.tags) <= set(REGISTRY["tags"]), message
        for name, value in message.fields.items():
            assert name in REGISTRY["fields"], message
            assert isinstance(value, TYPES[REGISTRY["fields"][name]["type"]]), f"{name} = {value!r}"


def test_matches_come_from_the_functions_that_scan_packets(emitted: list[Message]) -> None:
    scanning = {m.tags["function"] for m in emitted if "mtbr_per_mb" in m.fields}
    assert scanning == {"flowmonitor", "nids"}
