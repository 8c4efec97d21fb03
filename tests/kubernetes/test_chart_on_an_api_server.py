"""The chart on a real API server: installed and upgraded by Helm, and its rights and TokenReviews as that server grants them.

Nothing runs there, so no pod starts; `make kubernetes` builds the server.
"""

import base64
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_backend.cluster.conditions import CONDITION
from wallwatch_backend.hosts.enrolment.errors import BadEnrolmentToken
from wallwatch_backend.hosts.enrolment.service_accounts import AUDIENCE, pod_of
from wallwatch_backend.hosts.kubernetes.api import MERGE_PATCH, STRATEGIC_PATCH, KubernetesApi, KubernetesRefused, connected
from wallwatch_backend.settings import Settings
from wallwatch_local.paths import REPOSITORY, tools_dir
from wallwatch_testing.real_cluster import PROGRAM, ApiServer, serving

pytestmark = pytest.mark.skipif(PROGRAM not in os.environ, reason="no API server was built: make kubernetes")

NAMESPACE, NODE = "wallwatch", "node-1"
VALUES = (
    "backend.kubernetes.nodes=true,backend.kubernetes.taint=all,backend.kubernetes.pods=true,backend.keys.in=secret,backend.replicas=2",
    f"host.kubernetesEnrolment.enabled=true,host.kubernetesEnrolment.authority={'ab' * 32},host.cni.install=true,lab.enabled=true",
)
Helm = Any


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with serving(Path(os.environ[PROGRAM]), tmp_path_factory.mktemp("apiserver")) as server:
        yield server


@pytest.fixture(scope="module")
def helm(server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """A function that runs Helm against the server."""
    program = tools_dir() / "bin" / "helm"
    if not program.exists():
        module = REPOSITORY / "tests" / "contract" / "tools"
        subprocess.run(["go", "build", "-mod=readonly", "-trimpath", "-o", program, "helm.sh/helm/v3/cmd/helm"], cwd=module, check=True)
    folder = tmp_path_factory.mktemp("helm")
    authority = base64.b64encode(server.authority.read_bytes().partition(b"-----BEGIN PRIVATE")[0]).decode()
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server.url, "certificate-authority-data": authority}}],
        "users": [{"name": "it", "user": {"token": server.admin_token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }
    (folder / "config").write_text(yaml.safe_dump(configuration))

    def run(*arguments: str) -> str:
        environment = {**os.environ, "KUBECONFIG": str(folder / "config"), "HOME": str(folder)}
        values = [f"--set={value}" for value in VALUES]
        command = [str(program), *arguments, "wallwatch", str(REPOSITORY / "helm" / "wallwatch"), "--namespace", NAMESPACE, *values]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def installed(server: ApiServer, helm: Helm) -> ApiServer:
    """The chart as a newcomer installs it."""
    helm("install", "--create-namespace")
    return server


def secrets(server: ApiServer) -> dict[str, Any]:
    items = server.admin.get(f"/api/v1/namespaces/{NAMESPACE}/secrets").json()["items"]
    return {item["metadata"]["name"]: item["data"] for item in items if not item["metadata"]["name"].startswith("sh.helm.")}


@pytest.fixture
def settings(installed: ApiServer, tmp_path: Path) -> Settings:
    """The backend's, with the token of its service account of the chart."""
    token = tmp_path / "token"
    token.write_text(installed.service_account_token(NAMESPACE, "wallwatch-backend"))
    return Settings(
        kubernetes_api_url=installed.url,
        kubernetes_ca_file=installed.authority,
        kubernetes_token_file=token,
        kubernetes_service_account=f"{NAMESPACE}/wallwatch-host",
    )


@pytest.fixture(scope="module")
def pod(installed: ApiServer) -> dict[str, Any]:
    """A pod of the DaemonSet on a node, as its controller would make it; no controller runs here."""
    installed.create("/api/v1/nodes", {"metadata": {"name": NODE}})
    [daemons] = installed.admin.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets").json()["items"]
    template = daemons["spec"]["template"]
    body = {
        "metadata": {"name": "wallwatch-host-x7k2p", "labels": template["metadata"]["labels"]},
        "spec": template["spec"] | {"nodeName": NODE},
    }
    return installed.create(f"/api/v1/namespaces/{NAMESPACE}/pods", body)


def pod_token(server: ApiServer, pod: dict[str, Any], audience: str = AUDIENCE) -> str:
    reference = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    account = pod["spec"]["serviceAccountName"]
    return server.service_account_token(NAMESPACE, account, audiences=[audience], boundObjectRef=reference)


def test_an_upgrade_is_taken_and_changes_no_secret(installed: ApiServer, helm: Helm) -> None:
    before = secrets(installed)
    assert {"wallwatch-backend-keys", "wallwatch-database", "wallwatch-kafka-tls"} <= set(before)
    helm("upgrade")
    assert secrets(installed) == before


async def test_the_token_of_a_pod_names_its_node(installed: ApiServer, settings: Settings, pod: dict[str, Any]) -> None:
    found = await pod_of(settings, pod_token(installed, pod))
    assert (found.name, found.node) == (f"{NAMESPACE}/wallwatch-host-x7k2p", NODE)


async def test_other_tokens_are_refused(installed: ApiServer, settings: Settings, pod: dict[str, Any]) -> None:
    wrong = {
        "another audience": pod_token(installed, pod, "https://kubernetes.default.svc"),
        "no pod": installed.service_account_token(NAMESPACE, "wallwatch-host", audiences=[AUDIENCE]),
        "another account": installed.service_account_token(NAMESPACE, "wallwatch-backend", audiences=[AUDIENCE]),
        "altered": pod_token(installed, pod)[:-4] + "AAAA",
    }
    for token in wrong.values():
        with pytest.raises(BadEnrolmentToken):
            await pod_of(settings, token)


async def test_the_token_of_a_pod_that_is_gone_is_refused(installed: ApiServer, settings: Settings) -> None:
    body = {
        "metadata": {"name": "short-lived"},
        "spec": {"serviceAccountName": "wallwatch-host", "containers": [{"name": "a", "image": "b"}]},
    }
    gone = installed.create(f"/api/v1/namespaces/{NAMESPACE}/pods", body)
    token = pod_token(installed, gone)
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/short-lived"
    assert installed.admin.delete(path, params={"gracePeriodSeconds": 0}).is_success
    with pytest.raises(BadEnrolmentToken):
        await pod_of(settings, token)


async def refused(api: KubernetesApi, method: Any, path: str, **more: Any) -> int:
    try:
        await api.call("test", method, path, **more)
    except KubernetesRefused as error:
        return error.code
    return 0


async def test_the_chart_grants_the_backend_what_it_does_and_nothing_else(settings: Settings, pod: dict[str, Any]) -> None:
    condition = {"type": CONDITION, "status": "True", "reason": "NoSymptoms", "message": "m"}
    taint = {"key": "wallwatch.com/rnic-cordoned", "effect": "NoSchedule", "value": "true"}
    async with connected(settings) as api:
        allowed = [
            await refused(api, "GET", "/api/v1/nodes"),
            await refused(api, "GET", f"/api/v1/nodes/{NODE}"),
            await refused(api, "PATCH", f"/api/v1/nodes/{NODE}/status", body={"status": {"conditions": [condition]}}, kind=STRATEGIC_PATCH),
            await refused(api, "PATCH", f"/api/v1/nodes/{NODE}", body={"spec": {"taints": [taint]}}, kind=MERGE_PATCH),
            await refused(api, "GET", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}"),
        ]
        assert allowed == [0] * len(allowed)
        forbidden = [
            await refused(api, "GET", f"/api/v1/namespaces/{NAMESPACE}/secrets"),
            await refused(api, "GET", "/api/v1/pods"),
            await refused(api, "POST", "/api/v1/nodes", body={"metadata": {"name": "another"}}),
            await refused(api, "GET", "/apis/events.k8s.io/v1/namespaces/default/events"),
            await refused(api, "POST", f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events", body={"metadata": {"name": "a"}}),
            await refused(api, "PATCH", f"/api/v1/namespaces/{NAMESPACE}/pods/x", body={}, kind=MERGE_PATCH),
        ]
        assert forbidden == [403] * len(forbidden)
