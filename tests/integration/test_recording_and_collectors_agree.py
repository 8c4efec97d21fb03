"""A recording has what the real collectors send of the same scenario: measurements, tags, fields, types and, on average, values."""

import gzip
import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from signal import SIGTERM
from statistics import fmean

import pytest

from wallwatch_local.hosts import Host, render
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, listens, running
from wallwatch_testing.collector import FILE_OUTPUT, Message, message, messages, running_in

SCENARIO = """# Two RNICs with different drivers, and on each a container that stops and starts so often that the CNI chain reports
# events. It is one only: two that are released at the same moment may take the RNIC off the bus (S7), and that is chance.
name: agreement
seed: 5
topology: {racks: 1, hosts: 1, rnics_per_host: 2, models: [CX-6, E810], externals: 30}
workload:
  - {kind: training, containers: 2, flows: 40, gbps: 15}
  - {kind: microservices, containers: 2, flows: 60, gbps: 3, flow_lifetime: 20s}
  - {kind: microservices, containers: 1, flows: 20, gbps: 1, flow_lifetime: 20s, container_lifetime: 4s}
"""
HOST = Host("host01", "r1")
WARM_UP_S, LENGTH_S = 12, 40
LEFT_OUT = {"collect_ms", "collect_cpu_ms", "duration_ms"}
# Gauges that swing around a mean, and how far the means of two runs of half a minute may lie apart: flows live for 20 s, so
# there are few independent samples, and a busy machine makes the run in real time lose steps.
SWINGING = {
    "rnic": {"tx_gbps": 0.35, "rx_gbps": 0.35},
    "rnic_offload": {
        "flows_offloaded": 0.35,
        "packets_per_s": 0.35,
        "q_egress": 0.5,
        "q_ingress": 0.5,
        "masks_egress": 0.5,
        "masks_ingress": 0.5,
    },
    "ovs_datapath": {"flows": 0.35, "masks": 0.5},
}
Messages = dict[str, list[Message]]


def sorted_by_name(all_of_them: list[Message]) -> Messages:
    found: Messages = defaultdict(list)
    for one in all_of_them:
        found[one.name].append(one)
    return found


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("a") / "agreement.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="module")
def recorded(scenario: Path) -> Messages:
    out = scenario.parent / "recording"
    command = [
        str(binary("fleetsim")),
        "record",
        "--scenario",
        str(scenario),
        "--out",
        str(out),
        "--for",
        f"{LENGTH_S}s",
        "--interval",
        "2s",
        "--vf-traffic",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    run = json.loads((out / "run.json").read_text())
    assert set(run["left_out"]) == LEFT_OUT
    assert run["errors"] == {}
    with gzip.open(out / "telemetry.jsonl.gz", "rt") as lines:
        return sorted_by_name([message(json.loads(line)) for line in lines])


@pytest.fixture(scope="module")
def collected(scenario: Path) -> Messages:
    """What the demo's collector sends of the simulated host in real time, but into a file."""
    folder = scenario.parent
    host = folder / "hosts" / HOST.name
    arguments = ["run", "--scenario", str(scenario), "--hosts", "hosts", "--cni-bin", str(binary("wallwatch-cni"))]
    simulator = die_with_parent(["env", f"--chdir={folder}", str(binary("fleetsim")), *arguments], SIGTERM)
    values = {"host": HOST.name, "rack": HOST.rack, "kafka_bootstrap": "", "kafka_security": "", "server_url": "", "opamp_url": ""}
    inputs, _, _ = render("telegraf.conf", values).partition("[[outputs.kafka]]")
    inputs = inputs.replace('vf_interval = "10s"', "")  # a recording has the default, as a host of production
    inputs = inputs.replace("flow_event_limit = 20000", "")  # and no policies unless it is asked for them
    output = folder / "collected.json"

    def is_ready() -> bool:
        return listens(host / "ovs" / "db.sock") and listens(host / "ovs" / "vswitchd.ctl")

    with running("fleetsim", simulator, folder / "fleetsim.log", is_ready, SIGTERM):
        (host / "telegraf-buffer").mkdir()
        (host / "telegraf.conf").write_text(inputs + FILE_OUTPUT.format(path=output))
        collector = die_with_parent([str(binary("wallwatch-telegraf")), "--config", "telegraf.conf"], SIGTERM)
        with running_in(host, collector):
            deadline = time.monotonic() + 6 * LENGTH_S
            while time.monotonic() < deadline:
                found = sorted_by_name(messages(output))
                samples = [one.timestamp_ns for one in found["rnic"]]
                if samples and (max(samples) - min(samples)) / 1e9 > LENGTH_S - 2 and found["event"]:
                    break
                time.sleep(1)
    return sorted_by_name(messages(output))


def test_both_have_the_same_measurements(recorded: Messages, collected: Messages) -> None:
    assert set(recorded) == set(collected)
    assert {"rnic", "rnic_offload", "rnic_mask", "ovs_datapath", "event"} <= set(recorded)


def test_both_have_the_same_tags_and_fields_but_for_those_that_are_left_out(recorded: Messages, collected: Messages) -> None:
    def shapes(several: list[Message]) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in several:
            kind = one.tags.get("kind", "")
            # What else happens in so short a time than containers that come and go is chance.
            if not kind or kind.startswith("cni_"):
                found[one.tags.get("pci", ""), kind] |= one.tags.keys() | (one.fields.keys() - LEFT_OUT)
        return found

    for name in collected:
        left, right = shapes(recorded[name]), shapes(collected[name])
        assert left.keys() == right.keys(), name
        for subject, members in left.items():
            # Virtual functions are read once in this time: which of them are in use then is random, and those report more.
            differing = right[subject] - members if name == "rnic_vf" else right[subject] ^ members
            if name == "vf_traffic":  # packets that wait for an upcall too long are dropped now and then, and that is a doubt
                differing -= {"doubt"}
            assert differing == set(), (name, subject)


def test_both_have_values_of_the_same_types(recorded: Messages, collected: Messages) -> None:
    def types(side: Messages) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name, several in side.items():
            for one in several:
                for field, value in one.fields.items():
                    # JSON does not distinguish 2.0 from 2.
                    found[name, field].add("number" if type(value) in (int, float) else type(value).__name__)
        return found

    left, right = types(recorded), types(collected)
    assert {key: left[key] for key in left.keys() & right.keys()} == {key: right[key] for key in left.keys() & right.keys()}


def test_both_name_the_same_devices_and_say_the_same_of_what_stands_still(recorded: Messages, collected: Messages) -> None:
    tags = [{tuple(sorted(one.tags.items())) for one in side["rnic"]} for side in (recorded, collected)]
    assert tags[0] == tags[1]
    for field in (
        "rate_gbps",
        "pci_link_width",
        "sriov_numvfs",
        "port_state",
        "operstate",
        "admin_state",
        "lifespan",
        "values_missing",
        "vfs_bound",
    ):
        sides = [{(one.tags["pci"], one.fields.get(field)) for one in side["rnic"]} for side in (recorded, collected)]
        assert sides[0] == sides[1], field
    assert {one.fields["max_idle_ms"] for one in recorded["rnic_offload"]} == {
        one.fields["max_idle_ms"] for one in collected["rnic_offload"]
    }


@pytest.mark.parametrize("measurement", SWINGING)
def test_what_swings_has_nearly_the_same_mean(recorded: Messages, collected: Messages, measurement: str) -> None:
    for field, tolerance in SWINGING[measurement].items():
        means = []
        for side in (recorded, collected):
            begin = min(one.timestamp_ns for one in side[measurement]) + WARM_UP_S * 10**9
            values: dict[str, list[float]] = defaultdict(list)
            for one in side[measurement]:
                if one.timestamp_ns > begin and field in one.fields:
                    values[one.tags.get("pci", "")].append(one.fields[field])
            means.append({pci: fmean(several) for pci, several in values.items()})
        assert means[0].keys() == means[1].keys(), field
        for pci, mean in means[0].items():
            assert mean == pytest.approx(means[1][pci], rel=tolerance, abs=0.5), (field, pci)
