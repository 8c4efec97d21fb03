"""Agents enrol with a key of their own and then use mutual TLS: the real agent, the real backend, and people who try it without a right."""

import contextlib
import json
import ssl
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from opentelemetry._opamp.messages import build_agent_description
from opentelemetry._opamp.proto import opamp_pb2
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import connect

from wallwatch_backend.cli.agent import app as agent_app
from wallwatch_backend.hosts.certificates import signing
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_local.ports import free_ports
from wallwatch_testing.enrolled_host import PCI, EnrolledHost, connected, context, refusals, refused_with
from wallwatch_testing.opamp_client import connect_agent


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    port = free_ports(1)[0]
    return {"agent_port": port, "agent_url": f"https://127.0.0.1:{port}", "remedy_max_fleet_percent": 100}


@pytest.fixture
def host(backend: Any) -> Iterator[EnrolledHost]:
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp") as place:
        yield EnrolledHost(Path(place), "host-" + uuid4().hex[:8], backend)


def rows(backend: Any, name: str) -> list[tuple[Any, ...]]:
    """The host's certificates, oldest first: fingerprint, authority, used, revoked."""
    query = """SELECT c.fingerprint, c.authority, c.used_at IS NOT NULL, c.revoked_at IS NOT NULL
        FROM agent_certificate c JOIN agent a ON a.id = c.agent_id WHERE a.host = %s ORDER BY c.issued_at"""
    with backend.connect() as connection:
        return list(connection.execute(query, [name]).fetchall())


def own_credentials(backend: Any, admin: httpx.Client, name: str) -> dict[str, Any]:
    """Enrol as an agent does that is written in Python: the private key is created here."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": name}).json()["token"]
    body = {"token": token, "host": name, "version": "1", "instance_uid": str(uuid4()), "csr": request.public_bytes(Encoding.PEM).decode()}
    answer = admin.post("/api/v1/agents/enrol", json=body)
    assert answer.status_code == 201, answer.text
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {**answer.json(), "private_key": private}


def was_carried_out(operator: httpx.Client, remedy: str) -> bool:
    """Whether the agent has done it, whatever is known of its effect by now."""
    found = operator.get(f"/api/v1/remedies/{remedy}").json()
    assert found["state"] not in ("failed", "refused", "expired"), found
    return found["state"] not in ("approved", "running")


@contextlib.contextmanager
def fails_in_the_handshake() -> Iterator[None]:
    """A client of TLS 1.3 believes that it is through until it writes or reads, so what it meets then may be of several kinds."""
    with pytest.raises((OSError, WebSocketException)) as caught:
        yield
    assert not isinstance(caught.value, InvalidStatus), "it came as far as the application"


def test_an_agent_enrols_obeys_renews_and_is_gone_when_it_is_removed(
    host: EnrolledHost, admin: httpx.Client, operator: httpx.Client, backend: Any, eventually: Any, tmp_path: Path
) -> None:
    token = host.put_token(admin)
    with host.agent():
        eventually(lambda: connected(admin, host.name))
        first = host.credentials
        assert first.get("secret") is None
        assert (host.folder / "agent/credentials.json").stat().st_mode & 0o777 == 0o600
        assert signing.host_of(x509.load_pem_x509_certificate(first["certificate"].encode())) == host.name
        # Commands go the same way as ever.
        order = {"action": "cordon-rnic", "host": host.name, "pci": PCI, "params": {"reason": "test"}, "mode": "apply"}
        remedy = operator.post("/api/v1/remedies", json=order).json()["id"]
        eventually(lambda: was_carried_out(operator, remedy))
        assert (host.folder / "agent/cordon" / f"{PCI}.json").exists()
        # A new authority: the agent has a certificate of it, and a new key, without a new connection.
        answer = admin.post("/api/v1/agent-authorities/rotate", json={"overlap_s": 3600}).json()
        current = answer["items"][0]["fingerprint"]
        eventually(lambda: rows(backend, host.name)[-1][1] == current)
        eventually(lambda: len(host.credentials["authorities"]) == 2)
        assert host.credentials["private_key"] != first["private_key"]
        assert [one[3] for one in rows(backend, host.name)] == [False, False], "the one before is good until the new one is used"
    with backend.connect() as connection:  # so that more than half of their life has passed
        connection.execute("UPDATE agent_certificate SET issued_at = issued_at - interval '8 days'")
    with host.agent():
        eventually(lambda: rows(backend, host.name)[1][2])
        eventually(lambda: len(rows(backend, host.name)) == 3)
        assert [one[3] for one in rows(backend, host.name)] == [True, False, False]
        assert refused_with({**first, "authorities": host.credentials["authorities"]}, tmp_path) == "certificate_revoked"
        assert refusals(admin, host.name) == ["certificate_revoked"]
        eventually(lambda: connected(admin, host.name))
        agent = admin.get("/api/v1/agents", params={"host": host.name}).json()["items"][0]["id"]
        assert admin.delete(f"/api/v1/agents/{agent}").status_code == 204
        eventually(lambda: "unknown_certificate" in refusals(admin, host.name))
        eventually(lambda: "unknown_certificate" in host.log)  # the agent asks why, and says it where its operator looks
    again = httpx.post(
        f"{backend.url}/api/v1/agents/enrol",
        json={"token": token, "host": host.name, "version": "1", "instance_uid": str(uuid4())},
        timeout=60,
    )
    assert again.status_code == 401
    for secret in (token, first["private_key"], host.credentials["private_key"]):
        assert secret not in host.log


def test_an_agent_with_a_secret_is_moved_to_a_certificate(host: EnrolledHost, admin: httpx.Client, backend: Any, eventually: Any) -> None:
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host.name}).json()["token"]
    body = {"token": token, "host": host.name, "version": "0.9", "instance_uid": str(uuid4())}
    former = httpx.post(f"{backend.url}/api/v1/agents/enrol", json=body, timeout=60).json()
    assert former["secret"]
    assert former["opamp_url"].startswith("ws://")
    file = host.folder / "agent/credentials.json"
    file.write_text(json.dumps({**former, "host": host.name, "instance_uid": body["instance_uid"]}))
    configuration = host.folder / "agent.yaml"
    configuration.write_text("\n".join(line for line in configuration.read_text().splitlines() if not line.startswith("opamp_url")) + "\n")
    with host.agent():
        eventually(lambda: rows(backend, host.name) and rows(backend, host.name)[-1][2])
        eventually(lambda: connected(admin, host.name))
        assert host.credentials.get("secret") is None
        with (
            pytest.raises(InvalidStatus),
            connect(former["opamp_url"], additional_headers={"Authorization": f"Bearer {former['agent_id']}.{former['secret']}"}),
        ):
            pass


def test_an_agent_without_a_valid_certificate_is_refused_with_a_code(
    admin: httpx.Client, backend: Any, tmp_path: Path, eventually: Any
) -> None:
    name = "host-" + uuid4().hex[:8]
    credentials = own_credentials(backend, admin, name)
    assert refused_with(credentials, tmp_path, shown=False) == "certificate_needed"
    with backend.connect() as connection:
        connection.execute("UPDATE agent_certificate SET not_after = now() WHERE agent_id = %s", [credentials["agent_id"]])
    assert refused_with(credentials, tmp_path) == "certificate_expired"
    assert refused_with(credentials, tmp_path) == "certificate_expired"
    assert refusals(admin, name) == ["certificate_expired"], "an agent that tries again and again does not fill the audit log"
    metrics = httpx.get(f"{backend.url}/metrics", timeout=60).text
    assert 'wallwatch_agent_refused_total{code="certificate_expired"} 2' in metrics

    # What another authority has signed, for all that it says, does not come through the handshake.
    stranger = signing.new_authority(clock.now())
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    forged = signing.agent_certificate(stranger, request, name, clock.now(), clock.now().replace(year=2100))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    forgery = {**credentials, "certificate": forged.public_bytes(Encoding.PEM).decode(), "private_key": private}
    with fails_in_the_handshake(), connect(credentials["opamp_url"], ssl=context(forgery, tmp_path)):
        pass
    old = context(credentials, tmp_path)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with fails_in_the_handshake(), connect(credentials["opamp_url"], ssl=old):
        pass
    metrics = httpx.get(f"{backend.url}/metrics", timeout=60).text
    for reason in ("unknown_authority", "old_tls"):
        assert f'wallwatch_agent_tls_failures_total{{reason="{reason}"}} 1' in metrics
    with httpx.Client(base_url=str(backend.settings.agent_url), verify=context(credentials, tmp_path, shown=False), timeout=60) as bare:
        assert bare.get("/api/v1/agents").status_code == 404
        assert bare.get("/metrics").status_code == 404


def test_a_certificate_is_valid_for_its_own_host_only(admin: httpx.Client, backend: Any, tmp_path: Path, eventually: Any) -> None:
    mine, victim = "host-" + uuid4().hex[:8], "host-" + uuid4().hex[:8]
    credentials = own_credentials(backend, admin, mine)
    own_credentials(backend, admin, victim)
    hello = opamp_pb2.AgentToServer(instance_uid=uuid4().bytes, sequence_num=0)
    hello.agent_description.CopyFrom(build_agent_description({"service.name": "wallwatch-agent", "host.name": victim}, {}))
    with connect_agent(credentials["opamp_url"], context(credentials, tmp_path)) as socket:
        socket.send(b"\0" + hello.SerializeToString())
        with contextlib.suppress(ConnectionClosed):
            while True:
                socket.recv(timeout=60)
    assert refusals(admin, mine) == ["claims_other_host"]
    assert not connected(admin, victim)
    # A request that names another host gets a certificate for the own: the name is not the agent's to choose.
    with connect_agent(credentials["opamp_url"], context(credentials, tmp_path)) as socket:
        assert socket.ping().wait(60)
    assert signing.host_of(x509.load_pem_x509_certificate(credentials["certificate"].encode())) == mine


def test_a_stolen_authority_cannot_create_an_agent(admin: httpx.Client, backend: Any, tmp_path: Path) -> None:
    name = "host-" + uuid4().hex[:8]
    credentials = own_credentials(backend, admin, name)
    with backend.connect() as connection:
        found = connection.execute("SELECT certificate, private_key FROM agent_authority WHERE not_after IS NULL").fetchone()
    stolen = signing.Pair(found[0], SecretCipher.load(backend.settings.secrets_dir).decrypt(found[1]))
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    forged = signing.agent_certificate(stolen, request, name, clock.now(), clock.now().replace(year=2100))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    forgery = {**credentials, "certificate": forged.public_bytes(Encoding.PEM).decode(), "private_key": private}
    assert refused_with(forgery, tmp_path) == "unknown_certificate"
    assert refusals(admin, name) == ["unknown_certificate"]


@pytest.mark.parametrize("request_text", ["", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", "rsa"])
def test_a_request_that_cannot_be_signed_does_not_use_up_the_token(admin: httpx.Client, request_text: str) -> None:
    if request_text == "rsa":
        key = rsa.generate_private_key(65537, 2048)
        made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
        request_text = made.public_bytes(Encoding.PEM).decode()
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": None}).json()["token"]
    body = {"token": token, "host": "host-" + uuid4().hex[:8], "version": "1", "instance_uid": str(uuid4()), "csr": request_text}
    refused = admin.post("/api/v1/agents/enrol", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    del body["csr"]
    assert admin.post("/api/v1/agents/enrol", json=body).status_code == 201


def test_after_a_theft_of_the_authority_nothing_it_signed_is_accepted(
    admin: httpx.Client, backend: Any, tmp_path: Path, eventually: Any
) -> None:
    name = "host-" + uuid4().hex[:8]
    credentials = own_credentials(backend, admin, name)
    with connect_agent(credentials["opamp_url"], context(credentials, tmp_path)):
        pass
    answer = admin.post("/api/v1/agent-authorities/rotate", json={"overlap_s": 0}).json()
    assert answer["items"][1]["state"] == "retired"
    assert name in answer["behind"]
    fresh = own_credentials(backend, admin, "host-" + uuid4().hex[:8])
    assert len(fresh["authorities"]) == 1

    def shows_the_new_one() -> bool:
        try:
            with connect_agent(fresh["opamp_url"], context(fresh, tmp_path)):
                return True
        except ssl.SSLCertVerificationError:
            return False

    eventually(shows_the_new_one)
    assert refused_with({**credentials, "authorities": fresh["authorities"]}, tmp_path) == "authority_ended"


def test_the_command_line_creates_tokens_with_the_authority(backend: Any, monkeypatch: pytest.MonkeyPatch, admin: httpx.Client) -> None:
    settings = backend.settings
    for name in ("database_url", "secrets_dir", "agent_port", "agent_url"):
        monkeypatch.setenv(f"WALLWATCH_{name.upper()}", str(getattr(settings, name)))
    made = CliRunner().invoke(agent_app, ["enrol"])
    assert made.exit_code == 0, made.output
    oldest = [one for one in admin.get("/api/v1/agent-authorities").json()["items"] if one["state"] != "retired"][-1]["fingerprint"]
    assert made.output.strip().partition(".")[2] == encoded(bytes.fromhex(oldest))
    listed = CliRunner().invoke(agent_app, ["authorities"])
    assert oldest in listed.output


def encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")
