"""What the collector really emits for a simulated host is in the registry: every measurement, tag, field and type."""

import time
from collections import defaultdict
from typing import Any

import pytest
import yaml

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.tables import tables
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.collector import FILE_OUTPUT, FREQUENT_MASKS, INPUTS, Message, collecting, messages, with_port
from wallwatch_testing.simulator import simulating

TELEMETRY = REPOSITORY / "pipelines/wallwatch/domain/telemetry"
REGISTRY: dict[str, Any] = yaml.safe_load((TELEMETRY / "metrics.yaml").read_text())["measurements"]
POLICIES = """
[[processors.ltl]]
  policies = "policies.json"
  settle = "0s"
  patience = "1s"
  state_interval = "2s"
"""
TYPES = {"int": (int,), "float": (int, float), "text": (str,), "bool": (bool,)}
TUNNEL = "vxlan_sys_4789"
"""A port of every simulated switch."""
OF_CARDS_WITH_FUNCTIONS = {"network_function"}
"""Only a SmartNIC whose cores run network functions has these; the healthy host has none (inputs.nf has its own tests)."""
EVERYWHERE = set(REGISTRY) - OF_CARDS_WITH_FUNCTIONS
SAMPLED = ("rnic", "rnic_offload", "rnic_mask", "rnic_vf", "vf_traffic", "ovs_datapath")


@pytest.fixture(scope="module")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Message]]:
    folder = tmp_path_factory.mktemp("m")
    found: dict[str, list[Message]] = defaultdict(list)
    with simulating(folder, "healthy", speed=4) as host_folders:
        host = host_folders[0]
        output = host / "emitted.json"
        (host / "policies.json").write_bytes(tables(policies().values()))
        inputs = INPUTS + FREQUENT_MASKS + '  peer_interval = "2s"\n' + POLICIES
        with collecting(host, host.name, inputs, FILE_OUTPUT.format(path=output), within=with_port(TUNNEL)):
            deadline = time.monotonic() + 240
            while time.monotonic() < deadline and not (set(found) >= EVERYWHERE and len(found["rnic_offload"]) >= 16):
                time.sleep(1)
                found = defaultdict(list)
                for message in messages(output):
                    found[message.name].append(message)
                if len(found["rnic_offload"]) >= 8 and not found["event"]:
                    # A port goes down, so that the measurement `event` has something to say.
                    for state in host.glob("sys/class/infiniband/*/ports/1/state"):
                        state.write_text("1: DOWN\n")
    return found


def test_every_measurement_of_the_registry_is_emitted(emitted: dict[str, list[Message]]) -> None:
    assert set(emitted) == EVERYWHERE


@pytest.mark.parametrize("measurement", REGISTRY)
def test_no_tag_or_field_is_emitted_that_the_registry_does_not_have(emitted: dict[str, list[Message]], measurement: str) -> None:
    known = REGISTRY[measurement]
    for message in emitted[measurement]:
        assert set(message.tags) <= set(known["tags"]), message
        assert set(message.fields) <= set(known["fields"]), message


@pytest.mark.parametrize("measurement", REGISTRY)
def test_every_field_has_the_type_of_the_registry(emitted: dict[str, list[Message]], measurement: str) -> None:
    known = REGISTRY[measurement]["fields"]
    for message in emitted[measurement]:
        for name, value in message.fields.items():
            expected = TYPES[known[name]["type"]]
            assert isinstance(value, expected), f"{measurement}.{name} = {value!r}"
            assert expected == (bool,) or not isinstance(value, bool), f"{measurement}.{name} = {value!r}"


def shown_by_cases(measurement: str) -> set[str]:
    """The fields in the golden cases of the inputs, which read what real hosts print.

    A simulated host has no reason to show every field: two drivers with two generations of names, errors, ethtool, devlink.
    """
    shown: set[str] = set()
    for case in REPOSITORY.glob("collectors/plugins/inputs/*/testcases/*/expected.out"):
        name = ""
        for line in case.read_text().splitlines():
            if line.startswith("    "):
                if name == measurement and ": " in line:
                    shown.add(line.strip().split(": ")[0])
            else:
                name = line.split(" ")[0]
    return shown


@pytest.mark.parametrize("measurement", SAMPLED)
def test_every_field_of_the_registry_is_emitted_by_somebody(emitted: dict[str, list[Message]], measurement: str) -> None:
    """A field that nobody ever emits is a mistake in its name."""
    seen = {name for message in emitted[measurement] for name in message.fields} | shown_by_cases(measurement)
    assert set(REGISTRY[measurement]["fields"]) <= seen, f"never emitted: {sorted(set(REGISTRY[measurement]['fields']) - seen)}"


def test_counters_never_fall_from_one_sample_to_the_next(emitted: dict[str, list[Message]]) -> None:
    counters = [name for name, field in REGISTRY["rnic"]["fields"].items() if field["kind"] == "counter"]
    last: dict[tuple[str, str], int] = {}
    moved = 0
    for message in sorted(emitted["rnic"], key=lambda m: m.timestamp_ns):
        for name in counters:
            if name in message.fields:
                key = (message.tags["pci"], name)
                assert message.fields[name] >= last.get(key, 0), f"{key} fell"
                moved += message.fields[name] > last.get(key, 0)
                last[key] = message.fields[name]
    assert moved > 20


def test_every_measurement_has_its_topic() -> None:
    topics = yaml.safe_load((TELEMETRY / "topics.yaml").read_text())["topics"]
    with_measurement = {name: topic["measurement"] for name, topic in topics.items() if "measurement" in topic}
    assert with_measurement == {f"wallwatch.{measurement}": measurement for measurement in REGISTRY}
