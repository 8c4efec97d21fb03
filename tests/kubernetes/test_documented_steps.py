"""Every command of kubectl and Helm in the documents, copied from there, on a real API server with the chart.

No container runs. What `kubectl exec` starts is the real command of Wallwatch, next to a real backend, and what `kubectl port-forward`
forwards to is that backend's port. The test plays the controllers and the kubelets: it makes pods of the chart's templates and calls
them ready.
"""

import base64
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from wallwatch_local.paths import REPOSITORY, tools_dir
from wallwatch_local.ports import LOOPBACK, free_ports
from wallwatch_testing.documented_commands import blocks, commands, spans
from wallwatch_testing.real_cluster import PROGRAM, ApiServer, serving
from wallwatch_testing.stack import wait_for

pytestmark = pytest.mark.skipif(PROGRAM not in os.environ, reason="no API server was built: make kubernetes")

OPERATING = REPOSITORY / "docs" / "operating.md"
DOCUMENTS = (OPERATING, REPOSITORY / "docs" / "comparison.md", REPOSITORY / "helm" / "README.md")
NAMESPACE, NODE, EMPTY_NODE = "wallwatch", "node-1", "node-2"
PASSWORD = "correct horse battery staple"
SECRETS = "/var/lib/wallwatch/secrets"
ENDLESS = ("port-forward", "get pods -w")
RUN = f"""#!{sys.executable}
import os, pty, sys
kind, pod, container, *command = sys.argv[1:]
command = [part.replace({SECRETS!r}, os.environ["WALLWATCH_SECRETS_DIR"]) for part in command]
os.environ["PATH"] = {str(Path(sys.executable).parent)!r} + os.pathsep + os.environ["PATH"]
if kind == "tty":
    sys.exit(os.waitstatus_to_exitcode(pty.spawn(command)))
os.execvp(command[0], command)
"""


OWNERS = {"deployments": "ReplicaSet", "daemonsets": "DaemonSet"}
"""Kind in the API -> kind of what owns its pods."""


@dataclass
class Reader:
    """Somebody who copies commands into a shell, in a folder from which the chart is at `helm/wallwatch`."""

    server: ApiServer
    folder: Path
    backend: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WALLWATCH_")}
        path = f"{tools_dir() / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "PATH": path, "KUBECONFIG": str(self.folder / "config"), "HOME": str(self.folder)}

    def types(self, script: str, answers: dict[str, str] | None = None) -> tuple[int, str]:
        """Run a script on a terminal; `answers` has what is typed when a text is the last that it shows."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.folder, env=self.environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        said, answered = "", 0
        while True:
            readable, _, _ = select.select([ours], [], [], 0.2)
            try:
                said += os.read(ours, 65536).decode(errors="replace") if readable else ""
            except OSError:  # nobody has the terminal any more
                break
            for prompt, answer in (answers or {}).items():
                if re.search(prompt, said[answered:]):
                    answered = len(said)
                    os.write(ours, f"{answer}\n".encode())
            if process.poll() is not None and not readable:
                break
        code = process.wait(120)
        os.close(ours)  # not before: the end of a terminal ends what runs on it
        return code, said

    def copies(self, command: str) -> str:
        """Run one command that ends, and return what it says."""
        code, said = self.types(command)
        assert code == 0, f"{command}\n{said}"
        return said


def configuration(server: ApiServer) -> dict[str, Any]:
    authority = base64.b64encode(server.authority.read_bytes().partition(b"-----BEGIN PRIVATE")[0]).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server.url, "certificate-authority-data": authority}}],
        "users": [{"name": "it", "user": {"token": server.admin_token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }


@pytest.fixture(scope="module")
def reader(backend_url: str, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("reader")
    http, agents, kubelet = free_ports(3)
    environment = {
        **os.environ,
        "WALLWATCH_DATABASE_URL": backend_url,
        "WALLWATCH_KAFKA_BOOTSTRAP": kafka_bootstrap,
        "WALLWATCH_KAFKA_GROUP": f"steps-{http}",
        "WALLWATCH_SECRETS_DIR": str(folder / "secrets"),
        "WALLWATCH_AGENT_PORT": str(agents),
        "WALLWATCH_AGENT_URL": f"https://{LOOPBACK}:{agents}",
        "WALLWATCH_UI_DIR": str(REPOSITORY / "frontend" / "dist"),
    }
    with ExitStack() as stack:
        server = stack.enter_context(serving(Path(os.environ[PROGRAM]), tmp_path_factory.mktemp("apiserver")))
        (folder / "config").write_text(yaml.safe_dump(configuration(server)))
        (folder / "helm").symlink_to(REPOSITORY / "helm")
        (folder / "my-values.yaml").write_text("ingest: {replicas: 2}\n")
        run = folder / "run"
        run.write_text(RUN)
        run.chmod(0o755)
        of_kubelet = {
            "KUBELET_ADDRESS": f"{LOOPBACK}:{kubelet}",
            "KUBELET_CERTIFICATE": str(server.authority),
            "KUBELET_RUN": str(run),
            "KUBELET_PORT": str(http),
        }
        serve = [sys.executable, "-m", "wallwatch_backend.cli.serve", "--port", str(http)]
        for name, command, more in (("backend", serve, {}), ("kubelet", [str(tools_dir() / "bin" / "kubelet-streams")], of_kubelet)):
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(command, env={**environment, **more}, stdout=log, stderr=log)
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)
        backend = f"http://{LOOPBACK}:{http}"
        wait_for("the backend", lambda: answers(f"{backend}/-/ready"), timeout_s=180)
        for name in (NODE, EMPTY_NODE):
            server.create("/api/v1/nodes", {"metadata": {"name": name}})
            status = {
                "addresses": [{"type": "InternalIP", "address": LOOPBACK}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet}},
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "WallwatchRnicHealthy", "status": "False", "reason": "S1"}],
            }
            patched(server, f"/api/v1/nodes/{name}/status", {"status": status})
        yield Reader(server, folder, backend)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=60).is_success
    except httpx.TransportError:
        return False


def patched(server: ApiServer, path: str, body: dict[str, Any]) -> None:
    answer = server.admin.patch(path, json=body, headers={"content-type": "application/merge-patch+json"})
    assert answer.is_success, answer.text


def brought_up(server: ApiServer) -> None:
    """A pod of each Deployment and DaemonSet, ready on the first node, and the status that their controllers would write."""
    for kind in OWNERS:
        for item in server.admin.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/{kind}").json()["items"]:
            name, template = item["metadata"]["name"], item["spec"]["template"]
            owner = {
                "apiVersion": "apps/v1",
                "kind": item.get("kind", kind),
                "name": name,
                "uid": item["metadata"]["uid"],
                "controller": True,
            }
            metadata = {"name": f"{name}-0", "labels": template["metadata"]["labels"], "ownerReferences": [owner]}
            pod = {"metadata": metadata, "spec": template["spec"] | {"nodeName": NODE}}
            server.create(f"/api/v1/namespaces/{NAMESPACE}/pods", pod)
            containers = [
                {"name": each["name"], "ready": True, "restartCount": 0, "image": each["image"], "imageID": "", "state": {"running": {}}}
                for each in template["spec"]["containers"]
            ]
            ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": containers}
            patched(server, f"/api/v1/namespaces/{NAMESPACE}/pods/{name}-0/status", {"status": ready})
            if kind == "deployments":
                counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 1)
                status = {"observedGeneration": item["metadata"]["generation"], **counts}
                patched(server, f"/apis/apps/v1/namespaces/{NAMESPACE}/{kind}/{name}/status", {"status": status})


@pytest.fixture(scope="module")
def installed(reader: Reader) -> Reader:
    [block] = [block for block in blocks(OPERATING) if "helm install" in block]
    [install] = [command for command in commands(block) if command.startswith("helm ")]
    assert "STATUS: deployed" in reader.copies(install)
    brought_up(reader.server)
    return reader


def first_steps() -> list[str]:
    [block] = [block for block in blocks(OPERATING) if "# 1." in block]
    return list(commands(block))


def test_the_first_steps_lead_to_a_page_with_an_administrator(installed: Reader) -> None:
    *steps, forward = first_steps()
    script = "\n".join([*steps, 'echo "the fingerprint is $fingerprint"'])
    code, said = installed.types(script, {r"(?i)(password|confirmation).*: *$": PASSWORD})
    assert code == 0, said
    assert 'deployment "wallwatch-backend" successfully rolled out' in said
    assert re.search(r"wallwatch-host-0 +2/2 +Running", said), said
    match = re.search(r"the fingerprint is ([0-9a-f]{64})", said)
    assert match is not None, said
    assert match[1] in installed.copies(f"helm -n {NAMESPACE} get values wallwatch")
    [port] = free_ports(1)
    assert "8080:80" in forward
    with subprocess.Popen(
        ["bash", "-c", f"exec {forward.replace('8080:80', f'{port}:80')}"], cwd=installed.folder, env=installed.environment
    ) as forwarding:
        try:
            wait_for("the page", lambda: answers(f"http://localhost:{port}/"), timeout_s=120)
            signed_in = httpx.post(f"http://localhost:{port}/api/v1/session", json={"username": "admin", "password": PASSWORD}, timeout=60)
            assert signed_in.status_code == 201, signed_in.text
        finally:
            forwarding.terminate()


def others() -> list[str]:
    """Every other command, the one that ends with the node's pods last."""
    found: list[str] = []
    for document in DOCUMENTS:
        for block in blocks(document):
            found += [command for command in commands(block) if re.search(r"\b(kubectl|helm) ", command)]
        found += spans(document)
    taken = {*first_steps(), *(command for command in found if "helm install" in command and "..." not in command)}
    return sorted((command for command in dict.fromkeys(found) if command not in taken), key=lambda command: "uncordon" in command)


@pytest.mark.parametrize("command", others(), ids=lambda command: " ".join(command.split())[:60])
def test_a_command_of_the_documents_works_as_it_stands(installed: Reader, command: str) -> None:
    node = EMPTY_NODE if re.search(r"drain|uncordon", command) else NODE
    said = re.sub(r"\bNODE\b(?!:)", node, command).replace("FINGERPRINT", "ab" * 32)
    if "helm install" in said:  # the release is there
        said = said.replace("helm install", "helm template --kube-version 1.31.0")
    if "--all wallwatch.com/rnic-cordoned-" in said:
        for name in (NODE, EMPTY_NODE):
            taint = {"key": "wallwatch.com/rnic-cordoned", "value": "true", "effect": "NoSchedule"}
            patched(installed.server, f"/api/v1/nodes/{name}", {"spec": {"taints": [taint]}})
    if any(part in said for part in ENDLESS):
        endless = f"timeout 8 {said} | head -n 2 | grep -m 1 NAME"
        assert "NAME" in installed.types(endless)[1]
        return
    installed.copies(said)
    if "create secret generic wallwatch-keys" in said:
        assert not (installed.folder / "keys").exists()
