"""A real API server of Kubernetes with its etcd, and one namespace of it that has the interface of `StandInCluster`.

The program is built by `make kubernetes`; no kubelet and no controller runs, so objects are what the tests make them.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from wallwatch_local.ports import free_ports
from wallwatch_testing.kubernetes_cluster import Document, certificate, rights

PROGRAM = "WALLWATCH_KUBE_APISERVER"
"""Names the program; without it tests use the stand-in."""
_START_S = 180
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


class ApiServer:
    """A running API server; `admin` may do everything."""

    def __init__(self, url: str, authority: Path, admin_token: str) -> None:
        self.url, self.authority, self.admin_token = url, authority, admin_token
        self.admin = httpx.Client(
            base_url=url, verify=False, timeout=60, headers={"authorization": f"Bearer {admin_token}"}, trust_env=False
        )

    def create(self, path: str, document: Document) -> Document:
        answer = self.admin.post(path, json=document)
        assert answer.is_success, answer.text
        created: Document = answer.json()
        return created

    def service_account_token(self, namespace: str, name: str, **spec: Any) -> str:
        """Issue a token of a service account, as the kubelet does for a pod."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": [], **spec}}
        token: str = self.create(path, request)["status"]["token"]
        return token


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[ApiServer]:
    """Run an API server with an etcd of its own until the end of the context."""
    secure, client, peer = free_ports(3)
    authority, admin_token, key = certificate(folder), uuid4().hex, rsa.generate_private_key(65537, 2048)
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    (folder / "accounts.pem").write_bytes(key.private_bytes(*pem))
    (folder / "tokens.csv").write_text(f"{admin_token},admin,1,system:masters\n")
    etcd = f"http://127.0.0.1:{client}"
    command = [
        str(program),
        f"--etcd-servers={etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={secure}",
        f"--tls-cert-file={authority}",
        f"--tls-private-key-file={authority}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder / 'accounts.pem'}",
        f"--service-account-signing-key-file={folder / 'accounts.pem'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        # A controller that is not here would make the default account of each namespace, which this plugin asks for.
        "--disable-admission-plugins=ServiceAccount",
    ]
    places = {"ETCD_DIR": str(folder / "etcd"), "ETCD_CLIENT_URL": etcd, "ETCD_PEER_URL": f"http://127.0.0.1:{peer}"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **places}, stdout=log, stderr=subprocess.STDOUT)
    server = ApiServer(f"https://127.0.0.1:{secure}", authority, admin_token)
    try:
        _wait_until_ready(server, process, folder / "log")
        yield server
    finally:
        server.admin.close()
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(server: ApiServer, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        try:
            if server.admin.get("/readyz").is_success and server.admin.get("/api/v1/namespaces/default").is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)


class RealCluster:
    """The interface of `StandInCluster` on a real API server."""

    def __init__(self, server: ApiServer, folder: Path, *used: str) -> None:
        self._server, self._folder = server, folder
        self.url, self.authority = server.url, server.authority
        self.token_file = folder / "token"
        self._made: list[str] = []
        self.use(*used)

    def use(self, *used: str) -> None:
        """Let the backend's token be that of a new service account with the rights of these entries of the chart's file."""
        name = f"wallwatch-{uuid4().hex[:10]}"
        self._server.create("/api/v1/namespaces", {"metadata": {"name": name}})
        self._server.create(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "backend"}})
        subject = {"kind": "ServiceAccount", "name": "backend", "namespace": name}
        scopes = (("cluster", _RBAC, "clusterroles", "ClusterRole"), ("default", f"{_RBAC}/namespaces/default", "roles", "Role"))
        for scope, path, plural, kind in scopes:
            if rules := rights(*used)[scope]:
                self._server.create(f"{path}/{plural}", {"metadata": {"name": name}, "rules": rules})
                reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
                bindings = plural.replace("roles", "rolebindings")
                self._server.create(f"{path}/{bindings}", {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]})
        self.token_file.write_text(self._server.service_account_token(name, "backend"))

    def stop(self) -> None:
        """Remove the nodes, which belong to no namespace."""
        for name in self._made:
            self._server.admin.delete(f"/api/v1/nodes/{name}")

    def add_node(self, name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Document] = ()) -> None:
        self._made.append(name)
        node = {"metadata": {"name": name, "labels": dict(labels or {})}, "spec": {"taints": list(taints)}}
        self._server.create("/api/v1/nodes", node)
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
        self._patch(name, "/status", {"status": {"conditions": [ready]}}, "application/strategic-merge-patch+json")
        # Admission adds its own taint to a new node, which the node controller of a cluster removes.
        self._patch(name, "", {"spec": {"taints": list(taints) or None}}, "application/merge-patch+json")

    def _patch(self, name: str, part: str, patch: Document, kind: str) -> None:
        answer = self._server.admin.patch(f"/api/v1/nodes/{name}{part}", json=patch, headers={"content-type": kind})
        assert answer.is_success, answer.text

    def remove_node(self, name: str) -> None:
        assert self._server.admin.delete(f"/api/v1/nodes/{name}").is_success

    def taint_by_hand(self, name: str, taint: Document) -> None:
        taints = [*self.node(name)["spec"].get("taints", []), taint]
        self._patch(name, "", {"spec": {"taints": taints}}, "application/merge-patch+json")

    def change_by_others(self, name: str, patch: Document, conditions: Sequence[Document] = ()) -> None:
        """What another controller writes of a node: a merge patch of it (null removes), and conditions in its status."""
        self._patch(name, "", patch, "application/merge-patch+json")
        if conditions:
            self._patch(name, "/status", {"status": {"conditions": list(conditions)}}, "application/strategic-merge-patch+json")

    def add_pod(self, pod: str, labels: Mapping[str, str] | None = None, owner: tuple[str, str] | None = None) -> None:
        namespace, _, name = pod.partition("/")
        self._server.admin.post("/api/v1/namespaces", json={"metadata": {"name": namespace}})
        self._server.admin.delete(f"/api/v1/namespaces/{namespace}/pods/{name}", params={"gracePeriodSeconds": 0})
        metadata: Document = {"name": name, "labels": dict(labels or {})}
        if owner is not None:
            reference = {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": str(uuid4()), "controller": True}
            metadata["ownerReferences"] = [reference]
        spec = {"containers": [{"name": "main", "image": "example.net/none", "env": [{"name": "SECRET", "value": "hidden"}]}]}
        self._server.create(f"/api/v1/namespaces/{namespace}/pods", {"metadata": metadata, "spec": spec})

    def node(self, name: str) -> Document:
        answer = self._server.admin.get(f"/api/v1/nodes/{name}")
        assert answer.is_success, answer.text
        node: Document = answer.json()
        return node

    def condition(self, name: str, type: str) -> Document | None:
        return next((each for each in self.node(name)["status"].get("conditions", []) if each["type"] == type), None)

    def events_on(self, node: str) -> list[Document]:
        listed = self._server.admin.get("/apis/events.k8s.io/v1/namespaces/default/events").json()["items"]
        return sorted((event for event in listed if event["regarding"]["name"] == node), key=lambda event: str(event["eventTime"]))
