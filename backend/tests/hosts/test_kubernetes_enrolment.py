"""Agents in Kubernetes enrol with the token of their service account; a stand-in for the API server answers TokenReviews over TLS.

It answers in the form of authentication.k8s.io/v1. A real API server is not to be had on the machines of the tests.
"""

import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from wallwatch_local.ports import free_ports
from wallwatch_testing.enrolled_host import context
from wallwatch_testing.local_http import LocalHttp, QuietHandler
from wallwatch_testing.opamp_client import connect_agent

OWN_TOKEN = "eyJhbGciOiJub25lIn0.b3Vycw.c2ln"
PIN = "0" * 64
Answer = dict[str, Any]


class ApiServer:
    """Knows tokens by what it will say of them; asks for the backend's own token."""

    def __init__(self, folder: Path) -> None:
        self.known: dict[str, Answer] = {}
        self.asked: list[dict[str, Any]] = []
        self.broken = False
        server = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, answer = server.answer(self.path, self.headers.get("authorization"), body)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority = certificate(folder)
        tls.load_cert_chain(self.authority)
        self._server = LocalHttp(Handler, tls)
        self.url = self._server.url

    def answer(self, path: str, authorization: str | None, body: dict[str, Any]) -> tuple[int, Answer]:
        self.asked.append(body)
        if path != "/apis/authentication.k8s.io/v1/tokenreviews" or authorization != f"Bearer {OWN_TOKEN}" or self.broken:
            return 403, {"kind": "Status", "status": "Failure", "code": 403}
        status = self.known.get(body["spec"]["token"], {"authenticated": False, "error": "invalid bearer token"})
        return 201, {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "metadata": {},
            "spec": body["spec"],
            "status": status,
        }

    def stop(self) -> None:
        self._server.stop()


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


def pod_token(api: ApiServer, node: str, **more: Any) -> str:
    """A token of a pod on a node, which the API server knows from now on."""
    token = f"eyJhbGciOiJSUzI1NiJ9.{uuid4().hex}.c2ln"
    extra = {"authentication.kubernetes.io/node-name": [node], "authentication.kubernetes.io/pod-name": ["wallwatch-host-x7k2p"]}
    user = {"username": "system:serviceaccount:monitoring:wallwatch-host", "uid": "1", "groups": ["system:serviceaccounts"], "extra": extra}
    api.known[token] = {"authenticated": True, "audiences": ["wallwatch"], "user": user, **more}
    return token


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    api = ApiServer(tmp_path_factory.mktemp("kubernetes"))
    yield api
    api.stop()


@pytest.fixture(scope="module")
def backend_settings(api: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    port, folder = free_ports(1)[0], tmp_path_factory.mktemp("service-account")
    (folder / "token").write_text(OWN_TOKEN + "\n")
    return {
        "agent_port": port,
        "agent_url": f"https://127.0.0.1:{port}",
        "sign_in_failures_per_address": 1000,
        "kubernetes_service_account": "monitoring/wallwatch-host",
        "kubernetes_api_url": api.url,
        "kubernetes_ca_file": api.authority,
        "kubernetes_token_file": folder / "token",
    }


def new_key() -> tuple[str, str]:
    """A private key and the request for its certificate, both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private.decode(), request.public_bytes(serialization.Encoding.PEM).decode()


def body_of(token: str, host: str, csr: str) -> dict[str, Any]:
    return {"token": f"{token}.{PIN}", "host": host, "version": "1", "instance_uid": str(uuid4()), "csr": csr}


def enrol(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    return client.post("/api/v1/agents/enrol", json=body)


def test_a_new_node_enrols_by_itself_and_connects(admin: httpx.Client, api: ApiServer, host: str, tmp_path: Path) -> None:
    private, csr = new_key()
    token = pod_token(api, host)
    answer = enrol(admin, body_of(token, host, csr))
    assert answer.status_code == 201, answer.text
    assert api.asked[-1]["spec"] == {"token": token, "audiences": ["wallwatch"]}
    with connect_agent(answer.json()["opamp_url"], context({**answer.json(), "private_key": private}, tmp_path)):
        pass
    [entry] = [e for e in admin.get("/api/v1/audit", params={"actor": f"agent:{host}"}).json()["items"] if e["action"] == "agent.enrol"]
    assert entry["detail"]["token_by"] == "kubernetes:monitoring/wallwatch-host-x7k2p"


def test_a_token_works_once_and_the_next_one_enrols_the_node_again(admin: httpx.Client, api: ApiServer, host: str) -> None:
    token, (_, csr) = pod_token(api, host), new_key()
    body = body_of(token, host, csr)
    first = enrol(admin, body).json()["certificate"]
    assert enrol(admin, body).json()["certificate"] == first, "the answer was lost: the same request gets it again"
    assert enrol(admin, body_of(token, host, new_key()[1])).json()["code"] == "bad_enrolment_token"
    assert enrol(admin, body_of(pod_token(api, host), host, new_key()[1])).status_code == 201


OTHER_ACCOUNT = {"username": "system:serviceaccount:monitoring:default"}
OTHER_NAMESPACE = {"username": "system:serviceaccount:default:wallwatch-host"}
NO_NODE = {"username": "system:serviceaccount:monitoring:wallwatch-host", "extra": {}}


@pytest.mark.parametrize(
    "status",
    [
        {"authenticated": False},
        {"audiences": ["https://kubernetes.default.svc"]},
        {"audiences": []},
        {"user": OTHER_ACCOUNT},
        {"user": OTHER_NAMESPACE},
        {"user": NO_NODE},
        {"user": {"username": "kubernetes-admin", "groups": ["system:masters"]}},
    ],
)
def test_what_proves_no_node_is_refused(admin: httpx.Client, api: ApiServer, host: str, status: dict[str, Any]) -> None:
    answer = enrol(admin, body_of(pod_token(api, host, **status), host, new_key()[1]))
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_enrolment_token")


def test_a_pod_cannot_enrol_as_another_node(admin: httpx.Client, api: ApiServer, host: str) -> None:
    answer = enrol(admin, body_of(pod_token(api, f"{host}-other"), host, new_key()[1]))
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_enrolment_token")
    assert f"runs on {host}-other" in answer.json()["detail"]


def test_an_unknown_token_is_refused(admin: httpx.Client, host: str) -> None:
    answer = enrol(admin, body_of("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.", host, new_key()[1]))
    assert answer.json()["code"] == "bad_enrolment_token"


def test_without_an_answer_of_the_api_server_the_agent_is_told_to_try_later(admin: httpx.Client, api: ApiServer, host: str) -> None:
    token = pod_token(api, host)
    api.broken = True
    try:
        answer = enrol(admin, body_of(token, host, new_key()[1]))
    finally:
        api.broken = False
    assert (answer.status_code, answer.json()["code"]) == (503, "kubernetes_unreachable")
    assert enrol(admin, body_of(token, host, new_key()[1])).status_code == 201


def test_tokens_made_by_hand_work_next_to_it(admin: httpx.Client, host: str) -> None:
    made = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host}).json()["token"]
    body = {"token": made, "host": host, "version": "1", "instance_uid": str(uuid4()), "csr": new_key()[1]}
    assert enrol(admin, body).status_code == 201
