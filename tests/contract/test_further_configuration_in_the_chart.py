"""Files that the chart's users give the collector: mounted as Kubernetes does it, and read by the real program."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_local.paths import REPOSITORY, binary

EXAMPLES = REPOSITORY / "docs" / "examples" / "outputs"
NAMES = ("influxdb.conf", "opentelemetry.conf", "prometheus.conf")
METRICS_FROM = "--set=networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus"
TOKEN = '--set-json=host.telegraf.extraEnv=[{"name":"INFLUX_TOKEN","valueFrom":{"secretKeyRef":{"name":"influx","key":"token"}}}]'


def files(*names: str) -> list[str]:
    """Arguments of Helm that give it these examples."""
    keys = [name.replace(".", r"\.") for name in names]
    return [f"--set-file=host.telegraf.extraConfig.{key}={EXAMPLES / name}" for key, name in zip(keys, names, strict=True)]


@pytest.fixture(scope="module")
def rendered(render_chart: Any) -> list[dict[str, Any]]:
    done = render_chart(*files(*NAMES), TOKEN, METRICS_FROM, "--set=host.telegraf.extraPorts={9273}")
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def collector(rendered: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pod and the container."""
    [pod] = [one["spec"]["template"]["spec"] for one in rendered if one["kind"] == "DaemonSet"]
    return pod, next(one for one in pod["containers"] if one["name"] == "telegraf")


def mount(rendered: list[dict[str, Any]], name: str, folder: Path) -> None:
    """A ConfigMap as the kubelet mounts it: links to a folder that can be exchanged at once."""
    [data] = [one["data"] for one in rendered if one["kind"] == "ConfigMap" and one["metadata"]["name"] == name]
    versioned = folder / "..2026_11_27_06_00_00.1"
    versioned.mkdir(parents=True)
    (folder / "..data").symlink_to(versioned.name)
    for file, text in data.items():
        (versioned / file).write_text(text.replace("/var/lib/wallwatch-telegraf", str(folder.parent / "buffer")))
        (folder / file).symlink_to(f"..data/{file}")


def check(rendered: list[dict[str, Any]], root: Path) -> subprocess.CompletedProcess[str]:
    """`-check` of what the container would start."""
    pod, container = collector(rendered)
    volumes = {one["name"]: one["configMap"]["name"] for one in pod["volumes"] if "configMap" in one}
    mounts = {one["mountPath"]: volumes[one["name"]] for one in container["volumeMounts"] if one["name"] in volumes}
    for number, name in enumerate(mounts.values()):
        mount(rendered, name, root / str(number))
    moved = {path: str(root / str(number)) for number, path in enumerate(mounts)}
    # The longer path first: one begins with the other.
    command = container["command"]
    for path in sorted(moved, key=len, reverse=True):
        command = [argument.replace(path, moved[path], 1) if argument.startswith(path) else argument for argument in command]
    environment = {one["name"]: one.get("value", "a-value") for one in container["env"]}
    environment |= {"WALLWATCH_KAFKA_SECURITY_PROTOCOL": "PLAINTEXT", "PATH": os.environ["PATH"]}
    for name in [one for one in environment if one.startswith("WALLWATCH_KAFKA_") and one.split("_")[-1] not in ("PROTOCOL", "BOOTSTRAP")]:
        del environment[name]  # what a broker with passwords needs are files of a Secret
    command = [str(binary(command[0])), "-check", *command[1:]]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_the_collector_accepts_the_examples_as_the_chart_mounts_them(rendered: list[dict[str, Any]], tmp_path: Path) -> None:
    done = check(rendered, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_file_that_it_cannot_use_would_be_found(render_chart: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.conf"
    wrong.write_text(EXAMPLES.joinpath("prometheus.conf").read_text().replace("listen =", "lisen ="))
    done = render_chart(f"--set-file=host.telegraf.extraConfig.wrong\\.conf={wrong}")
    assert done.returncode == 0, done.stderr
    checked = check([document for document in yaml.safe_load_all(done.stdout) if document], tmp_path / "root")
    assert checked.returncode != 0
    assert "lisen" in checked.stderr


def test_its_keys_come_from_secrets_and_prometheus_reaches_its_port(rendered: list[dict[str, Any]]) -> None:
    _, container = collector(rendered)
    [token] = [one for one in container["env"] if one["name"] == "INFLUX_TOKEN"]
    assert token["valueFrom"] == {"secretKeyRef": {"name": "influx", "key": "token"}}
    assert container["ports"] == [{"containerPort": 9273}]
    [policy] = [one["spec"] for one in rendered if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "wallwatch-host"]
    assert policy["ingress"] == [{"ports": [{"port": 9273}], "from": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}]}]


def test_a_changed_file_starts_the_pods_again(render_chart: Any, rendered: list[dict[str, Any]]) -> None:
    def annotations(documents: list[dict[str, Any]]) -> dict[str, str]:
        [found] = [one["spec"]["template"]["metadata"]["annotations"] for one in documents if one["kind"] == "DaemonSet"]
        return found  # type: ignore[no-any-return]

    fewer = [document for document in yaml.safe_load_all(render_chart(*files("prometheus.conf")).stdout) if document]
    assert annotations(fewer)["checksum/telegraf"] != annotations(rendered)["checksum/telegraf"]
    assert annotations(fewer)["checksum/config"] == annotations(rendered)["checksum/config"]


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("--set=host.telegraf.extraConfig.prometheus=x", "prometheus"),
        ("--set=host.telegraf.extraConfig.\\.\\./x\\.conf=x", "../x.conf"),
        ("--set=host.telegraf.extraEnv[0].name=WALLWATCH_HOST", "extraEnv"),
        ("--set=host.telegraf.extraPorts={0}", "extraPorts"),
    ],
)
def test_a_name_that_would_do_harm_is_refused(render_chart: Any, argument: str, word: str) -> None:
    done = render_chart(argument)
    assert done.returncode != 0
    assert word in done.stderr
