"""A real Prometheus scrapes the collector of a host that has the example of docs/examples/outputs in its folder of configurations.

The other examples send to receivers in collectors/cmd/wallwatch-telegraf/outputs_test.go.
"""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
import pytest

from wallwatch.cli.tables import OFFERED_TO_PROMETHEUS
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_local.ports import free_ports
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing.collector import FILE_OUTPUT, configuration, running_in
from wallwatch_testing.stack import wait_for

EXAMPLE = REPOSITORY / "docs" / "examples" / "outputs" / "prometheus.conf"
LISTENS = '"127.0.0.1:9273"'
INPUTS = """
[[inputs.rnic]]
  sysfs_root = "sys"
[[processors.telemetry_key]]
  key = "wwt1_{key}"
"""
KEY = "a" * 43
SCRAPE = "global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: hosts, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port on which a collector answers. Its host has one RNIC with one counter."""
    folder, port = tmp_path_factory.mktemp("host"), free_ports(1)[0]
    counters = folder / "sys" / "class" / "infiniband" / "mlx5_0" / "ports" / "1" / "counters"
    counters.mkdir(parents=True)
    (counters / "port_xmit_packets").write_text("42\n")
    (folder / "telegraf.conf").write_text(configuration("host01", INPUTS.format(key=KEY), FILE_OUTPUT.format(path=folder / "out")))
    example = EXAMPLE.read_text()
    assert LISTENS in example
    (folder / "telegraf.d").mkdir()
    (folder / "telegraf.d" / EXAMPLE.name).write_text(example.replace(LISTENS, f'"127.0.0.1:{port}"'))
    command = [str(binary("wallwatch-telegraf")), "--config", "telegraf.conf", "--config-directory", "telegraf.d"]
    with running_in(folder, die_with_parent(command, SIGTERM)):
        yield port


@pytest.fixture(scope="module")
def prometheus(collector: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder, port = tmp_path_factory.mktemp("prometheus"), free_ports(1)[0]
    (folder / "prometheus.yaml").write_text(SCRAPE.format(port=collector))
    options = {"config.file": folder / "prometheus.yaml", "storage.tsdb.path": folder / "data", "web.listen-address": f"127.0.0.1:{port}"}
    command = ["prometheus", *(f"--{name}={value}" for name, value in options.items())]
    with (
        running("prometheus", die_with_parent(command, SIGTERM), folder / "prometheus.log", lambda: True, SIGTERM),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        yield client


def answer(client: httpx.Client, expression: str) -> list[dict[str, Any]]:
    """What Prometheus has for the expression; nothing before it listens."""
    try:
        got = client.get("/api/v1/query", params={"query": expression})
    except httpx.TransportError:
        return []
    result: list[dict[str, Any]] = got.json()["data"]["result"] if got.is_success else []
    return result


def test_prometheus_has_the_values_of_the_host(prometheus: httpx.Client) -> None:
    [series] = wait_for("the counter in Prometheus", lambda: answer(prometheus, "rnic_port_xmit_packets"), timeout_s=180)
    assert series["value"][1] == "42"
    labels = series["metric"]
    assert (labels["host"], labels["ibdev"], labels["rack"], labels["job"]) == ("host01", "mlx5_0", "r1", "hosts")


def test_the_key_of_the_host_is_not_among_the_labels(prometheus: httpx.Client, collector: int, tmp_path: Path) -> None:
    wait_for("the counter in Prometheus", lambda: answer(prometheus, "rnic_port_xmit_packets"), timeout_s=180)
    text = httpx.get(f"http://127.0.0.1:{collector}/metrics", timeout=60).text
    assert "rnic_port_xmit_packets{" in text
    assert KEY not in text
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert "error while linting" not in checked.stderr
    assert "parsing error" not in checked.stderr


def test_counters_have_their_type_and_gauges_do_not(prometheus: httpx.Client, collector: int) -> None:
    wait_for("the counter in Prometheus", lambda: answer(prometheus, "rnic_port_xmit_packets"), timeout_s=180)
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", httpx.get(f"http://127.0.0.1:{collector}/metrics", timeout=60).text, re.M))
    assert types["rnic_port_xmit_packets"] == "counter"
    assert types["rnic_values_missing"] == "untyped"


def test_the_example_types_what_it_sends() -> None:
    [output] = tomllib.loads(EXAMPLE.read_text())["outputs"]["prometheus_client"]
    assert tuple(output["namepass"]) == OFFERED_TO_PROMETHEUS
    typed = output["metric_types"]["counter"]
    assert len(set(typed)) == len(typed) > 200
    assert {"rnic_port_xmit_data", "ovs_datapath_lookups_missed"} <= set(typed)
    assert "rnic_tx_gbps" not in typed
