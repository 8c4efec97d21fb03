"""The answer to an enrolment was lost on its way: the same request gets it again, and no other does."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from wallwatch_backend.hosts.enrolment.repetition import MOST_REPEATS
from wallwatch_local.ports import free_ports
from wallwatch_testing.enrolled_host import context
from wallwatch_testing.opamp_client import connect_agent


@pytest.fixture(scope="module")
def backend_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    port = free_ports(1)[0]
    return {
        "agent_port": port,
        "agent_url": f"https://127.0.0.1:{port}",
        "sign_in_failures_per_address": 1000,
        "telemetry_secret_file": tmp_path_factory.mktemp("telemetry") / "secret",
    }


def new_key() -> tuple[str, str]:
    """A private key and the request for its certificate, both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private.decode(), request.public_bytes(Encoding.PEM).decode()


def body_of(admin: httpx.Client, host: str, csr: str, **token: Any) -> dict[str, Any]:
    made = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host, **token}).json()["token"]
    return {"token": made, "host": host, "version": "1", "instance_uid": str(uuid4()), "csr": csr}


def enrol(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    return client.post("/api/v1/agents/enrol", json=body)


def audited(admin: httpx.Client, host: str) -> list[tuple[str, str]]:
    found = admin.get("/api/v1/audit", params={"actor": f"agent:{host}", "limit": 200}).json()["items"]
    return sorted((entry["action"], entry["outcome"]) for entry in found if entry["action"].startswith("agent.enrol"))


def test_the_same_request_gets_the_same_certificate_without_anything_secret(admin: httpx.Client, host: str, tmp_path: Any) -> None:
    private, csr = new_key()
    body = body_of(admin, host, csr)
    first = enrol(admin, body).json()
    answers = [enrol(admin, body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert first["telemetry_key"]
    assert [answer.json() for answer in answers] == [{**first, "telemetry_key": None}] * 3
    assert audited(admin, host) == [("agent.enrol", "ok"), ("agent.enrol_again", "ok")], "a client that repeats fills no log"
    with connect_agent(first["opamp_url"], context({**answers[-1].json(), "private_key": private}, tmp_path)):
        pass


def test_once_the_certificate_was_used_its_answer_had_arrived(admin: httpx.Client, host: str, tmp_path: Any) -> None:
    private, csr = new_key()
    body = body_of(admin, host, csr)
    credentials = enrol(admin, body).json()
    with connect_agent(credentials["opamp_url"], context({**credentials, "private_key": private}, tmp_path)):
        pass
    assert enrol(admin, body).json()["code"] == "bad_enrolment_token"


@pytest.mark.parametrize("changed", ["csr", "host", "instance_uid", "no csr"])
def test_another_request_with_the_used_token_is_refused(admin: httpx.Client, host: str, changed: str) -> None:
    _, csr = new_key()
    body = body_of(admin, host, csr)
    certificate = enrol(admin, body).json()["certificate"]
    other: dict[str, Any] = {
        "csr": {"csr": new_key()[1]},
        "host": {"host": f"{host}-other"},
        "instance_uid": {"instance_uid": str(uuid4())},
        "no csr": {"csr": None},
    }[changed]
    refused = enrol(admin, {**body, **other})
    assert (refused.status_code, refused.json()["code"]) == (401, "bad_enrolment_token")
    assert enrol(admin, body).json()["certificate"] == certificate, "a refusal takes nothing from the agent"


def test_a_token_that_has_expired_or_an_agent_that_was_replaced_or_removed_is_not_answered_again(
    admin: httpx.Client, backend: Any, host: str
) -> None:
    bodies = {why: body_of(admin, f"{host}-{why}", new_key()[1]) for why in ("expired", "replaced", "removed")}
    answers = {why: enrol(admin, body).json() for why, body in bodies.items()}
    with backend.connect() as connection:
        connection.execute("UPDATE enrolment_token SET expires_at = now() WHERE used_by = %s", [f"{host}-expired"])
    assert enrol(admin, body_of(admin, f"{host}-replaced", new_key()[1])).status_code == 201
    assert admin.delete(f"/api/v1/agents/{answers['removed']['agent_id']}").status_code == 204
    assert [enrol(admin, body).json()["code"] for body in bodies.values()] == ["bad_enrolment_token"] * 3


def test_repeats_have_an_end(admin: httpx.Client, backend: Any, host: str) -> None:
    body = body_of(admin, host, new_key()[1])
    enrol(admin, body)
    with backend.connect() as connection:
        connection.execute("UPDATE enrolment_token SET repeats = %s WHERE used_by = %s", [MOST_REPEATS - 1, host])
    assert [enrol(admin, body).status_code for _ in range(2)] == [201, 401]
