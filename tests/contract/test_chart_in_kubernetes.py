"""What the chart gives the backend in the cluster: rights, settings, keys; and the probes of the collector."""

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_backend.cluster.taints import TAINT
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_testing import kubernetes_api
from wallwatch_testing.kubernetes_cluster import rights

SWITCHES = {
    "nodes": "backend.kubernetes.nodes=true",
    "taint": "backend.kubernetes.taint=all",
    "pods": "backend.kubernetes.pods=true",
    "nvsentinel": "backend.kubernetes.nvsentinel=true",
    "enrolment": f"host.kubernetesEnrolment.enabled=true,host.kubernetesEnrolment.authority={'ab' * 32}",
}
Manifest = dict[str, Any]


@pytest.fixture
def rendered(render_chart: Any) -> Any:
    """A function that renders the chart with these values into manifests."""

    def render(*values: str) -> list[Manifest]:
        done = render_chart(*(f"--set={value}" for value in values))
        assert done.returncode == 0, done.stderr
        return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]

    return render


def only(manifests: list[Manifest], kind: str, end: str = "") -> Manifest:
    [found] = [m for m in manifests if m["kind"] == kind and m["metadata"]["name"].endswith(end)]
    return found


def pod_of(manifests: list[Manifest], kind: str, component: str) -> Manifest:
    pod: Manifest = only(manifests, kind, f"-{component}")["spec"]["template"]["spec"]
    return pod


def environment(container: Manifest) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in container["env"]}


@pytest.mark.parametrize("switch", SWITCHES)
def test_each_switch_gives_its_own_rights_and_no_others(rendered: Any, switch: str) -> None:
    manifests = rendered(SWITCHES[switch])
    wanted = rights(switch)
    assert only(manifests, "ClusterRole")["rules"] == wanted["cluster"]
    roles = [m for m in manifests if m["kind"] == "Role"]
    assert [(m["metadata"]["namespace"], m["rules"]) for m in roles] == ([("default", wanted["default"])] if wanted["default"] else [])
    account = only(manifests, "ServiceAccount", "-backend")["metadata"]["name"]
    bindings = [m for m in manifests if m["kind"] in ("ClusterRoleBinding", "RoleBinding")]
    assert len(bindings) == 1 + len(roles)
    for binding in bindings:
        assert [subject["name"] for subject in binding["subjects"]] == [account]
        assert binding["roleRef"]["name"] == binding["metadata"]["name"]
    pod = pod_of(manifests, "Deployment", "backend")
    assert (pod["serviceAccountName"], pod["automountServiceAccountToken"]) == (account, False)
    assert "kubernetes" in [mount["name"] for mount in pod["containers"][0]["volumeMounts"]]


def test_all_switches_together_set_the_settings_and_the_rights_are_the_sum(rendered: Any) -> None:
    manifests = rendered(*SWITCHES.values())
    given = only(manifests, "ClusterRole")["rules"]
    assert all(rule in given for rule in rights(*SWITCHES)["cluster"])
    assert all(rule in rights(*SWITCHES)["cluster"] for rule in given)
    settings = environment(pod_of(manifests, "Deployment", "backend")["containers"][0])
    assert settings["WALLWATCH_KUBERNETES_NODES"] == settings["WALLWATCH_KUBERNETES_PODS"] == "true"
    assert settings["WALLWATCH_KUBERNETES_TAINT"] == "all"


def test_a_node_that_wallwatch_tainted_keeps_its_observer(rendered: Any) -> None:
    host = pod_of(rendered(SWITCHES["taint"], "host.tolerations[0].key=gpu"), "DaemonSet", "host")
    assert host["tolerations"] == [{"key": "gpu"}, {"key": TAINT, "operator": "Exists"}]
    assert "tolerations" not in pod_of(rendered(), "DaemonSet", "host")


def test_keys_in_a_secret_are_keys_that_the_backend_takes_and_several_replicas_may_share(rendered: Any, tmp_path: Path) -> None:
    manifests = rendered("backend.keys.in=secret,backend.replicas=3")
    assert not [m for m in manifests if m["kind"] == "PersistentVolumeClaim" and "secrets" in m["metadata"]["name"]]
    secret = only(manifests, "Secret", "-keys")
    assert secret["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    mounted, copied = tmp_path / "mounted", tmp_path / "copied"
    mounted.mkdir()
    copied.mkdir()
    for name, content in secret["data"].items():
        (mounted / name).write_bytes(base64.b64decode(content, validate=True))
        (mounted / name).chmod(0o440)
    pod = pod_of(manifests, "Deployment", "backend")
    [keys] = pod["initContainers"]
    places = {mount["mountPath"]: str(mounted if mount["name"] == "keys" else copied) for mount in keys["volumeMounts"]}
    shell, flags, script = keys["command"]
    for place, here in places.items():
        script = script.replace(place, here)
    subprocess.run([shell, flags, script], check=True)
    cipher = SecretCipher.load(copied)
    assert cipher.decrypt(cipher.encrypt("text")) == "text"
    assert len(CommandSigner.load(copied).kid) == 16
    assert {file.name for file in copied.iterdir()} == set(secret["data"]), "neither key was created again"
    others = only(rendered("backend.keys.in=secret"), "Secret", "-keys")["data"]
    assert all(others[name] != content for name, content in secret["data"].items())


def test_keys_may_be_in_a_secret_of_ones_own(rendered: Any, render_chart: Any) -> None:
    manifests = rendered("backend.keys.in=secret,backend.keys.existingSecret=mine")
    assert not [m for m in manifests if m["kind"] == "Secret" and m["metadata"]["name"].endswith("-keys")]
    [volume] = [v for v in pod_of(manifests, "Deployment", "backend")["volumes"] if v["name"] == "keys"]
    assert volume["secret"]["secretName"] == "mine"
    named = "database.existingSecret=db,telemetry.existingSecret=t,kafka.enabled=false,kafka.bootstrap=k:9093"
    without = render_chart(f"--set=backend.keys.in=secret,generateSecrets=false,{named}")
    assert without.returncode != 0
    assert "backend.keys.existingSecret" in without.stderr


def test_a_release_with_keys_in_its_volume_does_not_silently_get_others(render_chart: Any) -> None:
    claim, keys = "wallwatch-backend-secrets", {"command-signing.key": "a", "webhook-secrets.key": "b"}

    def upgrade(*values: str, **present: Any) -> subprocess.CompletedProcess[str]:
        with kubernetes_api.serving(**{"secrets": {}, **present}) as address:
            server = ("--dry-run=server", "--disable-openapi-validation", "--kube-apiserver", address)
            done: subprocess.CompletedProcess[str] = render_chart(*server, "--set=backend.keys.in=secret", *values)
        return done

    refused = upgrade(claims=[claim])
    assert refused.returncode != 0
    assert f"the volume claim {claim} has the present ones" in refused.stderr
    for done in (
        upgrade(),
        upgrade(claims=[claim], secrets={"wallwatch-backend-keys": keys}),
        upgrade("--set=backend.keys.existingSecret=mine", claims=[claim]),
    ):
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("values", "host"), [((), None), (("host.agent.netAdmin=true",), "127.0.0.1")], ids=["own network", "node's network"]
)
def test_the_probes_of_the_collector_ask_where_it_answers(rendered: Any, values: tuple[str, ...], host: str | None) -> None:
    pod = pod_of(rendered(*values, "host.telegraf.healthPort=9555"), "DaemonSet", "host")
    assert pod.get("hostNetwork", False) is (host is not None)
    telegraf = pod["containers"][0]
    assert environment(telegraf)["WALLWATCH_HEALTH_ADDRESS"] == f"http://{host or ''}:9555"
    asked = [telegraf[probe]["httpGet"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
    assert all((get["port"], get.get("host")) == (9555, host) for get in asked)
