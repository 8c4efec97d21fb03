"""A stand-in for the API server, strict about what it takes: rights, media types, versions of objects, and the published schemas.

It knows nodes, pods and Events, and only the rights that the chart grants (helm/wallwatch/files/kubernetes-rights.yaml). What it does not
know it refuses. `make kubernetes` runs the same tests against a real API server.
"""

import copy
import json
import re
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import kubernetes_validate
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.local_http import LocalHttp, QuietHandler

RIGHTS_FILE = REPOSITORY / "helm" / "wallwatch" / "files" / "kubernetes-rights.yaml"
SCHEMAS = ("1.31", "1.37")
"""The oldest release that the chart is rendered for, and the newest whose schemas are published here."""

Document = dict[str, Any]
Rules = Sequence[Mapping[str, Sequence[str]]]


def rights(*used: str) -> dict[str, list[Document]]:
    """`cluster` and `default` -> rules, of these entries of the chart's file."""
    known = yaml.safe_load(RIGHTS_FILE.read_text())
    found: dict[str, list[Document]] = {"cluster": [], "default": []}
    for name in used:
        for scope, rules in known[name].items():
            found[scope] += rules
    return found


def certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
    builder = builder.not_valid_after(now + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "apiserver.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


class Refusal(Exception):
    """An answer with an error."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "reason": reason,
            "message": message,
            "code": code,
        }


class StandInCluster:
    """Serves from its creation until `stop`, over TLS, to whoever brings `token`."""

    def __init__(self, folder: Path, *used: str) -> None:
        self.authority = certificate(folder)
        self.token_file = folder / "token"
        self._token = uuid4().hex
        self.token_file.write_text(self._token + "\n")
        self.use(*used)
        self.asked: list[tuple[str, str]] = []
        self.down = False
        """Whether connections are closed without an answer."""
        self.refusing: Callable[[str, str, Document | None], int | None] = lambda method, path, body: None
        """Which requests are refused, with which status, as by a webhook for admission."""
        self.proxy_answers: int | None = None
        """The status with which something in front of the API server answers everything, in plain text."""
        self._nodes: dict[str, Document] = {}
        self._pods: dict[str, Document] = {}
        self._events: dict[str, Document] = {}
        self._lock, self._version = threading.Lock(), 100
        cluster = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._do("GET")

            def do_POST(self) -> None:
                self._do("POST")

            def do_PATCH(self) -> None:
                self._do("PATCH")

            def _do(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if cluster.down:
                    self.close_connection = True
                    return
                code, answer = cluster.answer(method, self.path, self.headers, body)
                content = json.dumps(answer).encode() if cluster.proxy_answers is None else b"upstream is away"
                self.send_response(cluster.proxy_answers or code)
                self.send_header("content-type", "application/json" if cluster.proxy_answers is None else "text/plain")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.authority)
        self._server = LocalHttp(Handler, tls)
        self.url = self._server.url

    def stop(self) -> None:
        self._server.stop()

    def use(self, *used: str) -> None:
        """Grant the rights of these entries of the chart's file, and no others."""
        self._rights = rights(*used)

    def add_node(self, name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Document] = ()) -> None:
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": str(uuid4()), "labels": dict(labels or {}), "resourceVersion": self._next()},
            "spec": {"taints": list(taints)} if taints else {},
            "status": {"conditions": [ready]},
        }
        _validate(node)
        self._nodes[name] = node

    def remove_node(self, name: str) -> None:
        del self._nodes[name]

    def taint_by_hand(self, name: str, taint: Document) -> None:
        """What an operator's `kubectl taint` does."""
        node = self._nodes[name]
        node["spec"].setdefault("taints", []).append(taint)
        node["metadata"]["resourceVersion"] = self._next()

    def change_by_others(self, name: str, patch: Document, conditions: Sequence[Document] = ()) -> None:
        """What another controller writes of a node: a merge patch of it (null removes), and conditions in its status."""
        node = copy.deepcopy(self._nodes[name])
        for part, changes in patch.items():
            for key, value in changes.items():
                former = node[part].get(key)
                merged = {**former, **value} if isinstance(former, dict) and isinstance(value, dict) else value
                node[part][key] = {k: v for k, v in merged.items() if v is not None} if isinstance(merged, dict) else merged
            node[part] = {key: value for key, value in node[part].items() if value is not None}
        node["status"]["conditions"] = _merged(node["status"]["conditions"], list(conditions))
        node["metadata"]["resourceVersion"] = self._next()
        _validate(node)
        self._nodes[name] = node

    def add_pod(self, pod: str, labels: Mapping[str, str] | None = None, owner: tuple[str, str] | None = None) -> None:
        namespace, _, name = pod.partition("/")
        metadata: Document = {"name": name, "namespace": namespace, "uid": str(uuid4()), "labels": dict(labels or {})}
        if owner is not None:
            kind, owner_name = owner
            reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner_name, "uid": str(uuid4()), "controller": True}
            metadata["ownerReferences"] = [reference]
        self._pods[pod] = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}

    def node(self, name: str) -> Document:
        return copy.deepcopy(self._nodes[name])

    def condition(self, name: str, type: str) -> Document | None:
        return next((each for each in self.node(name)["status"]["conditions"] if each["type"] == type), None)

    def events_on(self, node: str) -> list[Document]:
        return [event for event in self._events.values() if event["regarding"]["name"] == node]

    def _next(self) -> str:
        self._version += 1
        return str(self._version)

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Document]:
        parts = urlsplit(target)
        with self._lock:
            self.asked.append((method, parts.path))
            try:
                if headers.get("authorization") != f"Bearer {self._token}":
                    raise Refusal(401, "Unauthorized", "Unauthorized")
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                document = json.loads(body) if body else None
                if (code := self.refusing(method, parts.path, document)) is not None:
                    raise Refusal(code, "Refused", "refused by the test")
                return self._route(method, parts.path, query, headers, document)
            except Refusal as refused:
                return refused.status["code"], refused.status

    def _route(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: Document | None
    ) -> tuple[int, Document]:
        if path == "/api/v1/nodes" and method == "GET":
            self._allow("list", "", "nodes")
            return 200, self._page(query)
        if (at := re.fullmatch(r"/api/v1/nodes/([a-z0-9.-]+)(/status)?", path)) is not None:
            name, status = at[1], at[2] is not None
            if method == "GET" and not status:
                self._allow("get", "", "nodes")
                return 200, self._existing(self._nodes, name, "nodes")
            if method == "PATCH" and body is not None:
                self._allow("patch", "", "nodes/status" if status else "nodes")
                return 200, self._patched(name, status, headers.get("content-type", ""), body)
        if (at := re.fullmatch(r"/api/v1/namespaces/([a-z0-9-]+)/pods/([a-z0-9.-]+)", path)) is not None and method == "GET":
            self._allow("get", "", "pods")
            pod = self._existing(self._pods, f"{at[1]}/{at[2]}", "pods")
            if "as=PartialObjectMetadata" in headers.get("accept", ""):
                return 200, {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": pod["metadata"]}
            return 200, pod
        if (at := re.fullmatch(r"/apis/events.k8s.io/v1/namespaces/([a-z0-9-]+)/events", path)) is not None and method == "POST":
            self._allow("create", "events.k8s.io", "events", at[1])
            assert body is not None
            return 201, self._created(at[1], body)
        raise Refusal(404, "NotFound", f"the server could not find the requested resource: {method} {path}")

    def _allow(self, verb: str, group: str, resource: str, namespace: str | None = None) -> None:
        rules = [*self._rights["cluster"], *(self._rights["default"] if namespace == "default" else [])]
        for rule in rules:
            if group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"]:
                return
        raise Refusal(403, "Forbidden", f'cannot {verb} resource "{resource}" in API group "{group}"')

    def _existing(self, known: Mapping[str, Document], name: str, plural: str) -> Document:
        if name not in known:
            raise Refusal(404, "NotFound", f'{plural} "{name}" not found')
        return copy.deepcopy(known[name])

    def _page(self, query: Mapping[str, str]) -> Document:
        names = [name for name in sorted(self._nodes) if name > query.get("continue", "")]
        limit = int(query.get("limit", 0)) or len(names)
        metadata: Document = {"resourceVersion": str(self._version)}
        if len(names) > limit:
            metadata |= {"continue": names[limit - 1], "remainingItemCount": len(names) - limit}
        # Items of a list have no kind of their own.
        items = [{key: value for key, value in self._nodes[name].items() if key not in ("apiVersion", "kind")} for name in names[:limit]]
        return {"apiVersion": "v1", "kind": "NodeList", "metadata": metadata, "items": copy.deepcopy(items)}

    def _patched(self, name: str, status: bool, kind: str, patch: Document) -> Document:
        node = self._existing(self._nodes, name, "nodes")
        version = patch.get("metadata", {}).get("resourceVersion")
        if version is not None and version != node["metadata"]["resourceVersion"]:
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on nodes "{name}": the object has been modified')
        if status and kind == "application/strategic-merge-patch+json":
            assert set(patch) == {"status"}, "a real API server ignores the rest without a word"
            node["status"]["conditions"] = _merged(node["status"]["conditions"], patch["status"]["conditions"])
        elif not status and kind == "application/merge-patch+json":
            assert set(patch) <= {"metadata", "spec"}, "a real API server ignores a status here without a word"
            node["spec"] = {key: value for key, value in {**node["spec"], **patch.get("spec", {})}.items() if value is not None}
        else:
            raise Refusal(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {kind}")
        _validate(node)
        if node != self._nodes[name]:
            node["metadata"]["resourceVersion"] = self._next()
        self._nodes[name] = node
        return copy.deepcopy(node)

    def _created(self, namespace: str, event: Document) -> Document:
        _validate(event)
        if event["metadata"].get("namespace") != namespace or event["regarding"].get("namespace", "default") != namespace:
            raise Refusal(422, "Invalid", "the namespace of the event does not match that of the object it is about")
        for field in ("eventTime", "reportingController", "reportingInstance", "action", "reason"):
            if not event.get(field):
                raise Refusal(422, "Invalid", f"{field}: Required value")
        if len(event["note"].encode()) > 1024 or len(event["action"]) > 128 or len(event["reason"]) > 128:
            raise Refusal(422, "Invalid", "note, action or reason is too long")
        if event["type"] not in ("Normal", "Warning"):
            raise Refusal(422, "Invalid", "type: has invalid value")
        if re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", event["reportingController"]) is None:
            raise Refusal(422, "Invalid", "reportingController: must be a qualified name")
        name = event["metadata"]["name"]
        if name in self._events:
            raise Refusal(409, "AlreadyExists", f'events.events.k8s.io "{name}" already exists')
        self._events[name] = event
        return event


def _merged(present: Sequence[Document], patch: Sequence[Document]) -> list[Document]:
    """Merge conditions by their type, as a strategic merge patch does."""
    by_type = {condition["type"]: condition for condition in present}
    for change in patch:
        if change.get("$patch") == "delete":
            by_type.pop(change["type"], None)
        else:
            by_type[change["type"]] = {**by_type.get(change["type"], {}), **change}
    return list(by_type.values())


def _validate(document: Document) -> None:
    for release in SCHEMAS:
        try:
            kubernetes_validate.validate(document, release, strict=True)
        except kubernetes_validate.ValidationError as error:
            raise Refusal(422, "Invalid", f"{document['kind']} is not one of Kubernetes {release}: {error}") from error
