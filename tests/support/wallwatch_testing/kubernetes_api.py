"""As much of the API of Kubernetes as Helm needs to look things up: what kinds there are, and Secrets and claims that a test put there."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KINDS = {
    "v1": ["Secret", "ConfigMap", "Service", "PersistentVolumeClaim"],
    "apps/v1": ["Deployment", "StatefulSet", "DaemonSet"],
    "batch/v1": ["Job"],
    "networking.k8s.io/v1": ["NetworkPolicy", "Ingress"],
}


def _plural(kind: str) -> str:
    return kind.lower()[:-1] + "ies" if kind.endswith("y") else kind.lower() + ("es" if kind.endswith("s") else "s")


def _resources(version: str) -> dict[str, Any]:
    found = [
        {"name": _plural(kind), "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": ["get", "list"]}
        for kind in KINDS[version]
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": found}


def _groups() -> dict[str, Any]:
    versions = [version for version in KINDS if "/" in version]
    entries = [{"groupVersion": version, "version": version.partition("/")[2]} for version in versions]
    groups = [
        {"name": version.partition("/")[0], "versions": [entry], "preferredVersion": entry}
        for version, entry in zip(versions, entries, strict=True)
    ]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _answer(path: str, secrets: Mapping[str, Mapping[str, str]], claims: Collection[str]) -> dict[str, Any] | None:
    fixed: dict[str, dict[str, Any]] = {
        "/version": {"major": "1", "minor": "31", "gitVersion": "v1.31.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": _groups(),
    }
    fixed |= {("/api/v1" if version == "v1" else f"/apis/{version}"): _resources(version) for version in KINDS}
    if path in fixed:
        return fixed[path]
    prefix, _, name = path.rpartition("/")
    if prefix.endswith("/secrets") and name in secrets:
        data = {key: b64encode(value.encode()).decode() for key, value in secrets[name].items()}
        return {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}, "data": data}
    if prefix.endswith("/persistentvolumeclaims") and name in claims:
        return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}}
    return None


@contextmanager
def serving(secrets: Mapping[str, Mapping[str, str]], claims: Collection[str] = ()) -> Iterator[str]:
    """Serve these Secrets (name -> key -> text) and claims of volumes (names); yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = _answer(self.path.partition("?")[0], secrets, claims)
            missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            body = json.dumps(found if found is not None else missing).encode()
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: a test says what failed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
