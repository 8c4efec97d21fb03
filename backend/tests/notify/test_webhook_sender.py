"""The request itself: it goes to the address that was checked, under the name that was given."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from wallwatch_backend.notify.deliveries.outcome import Outcome
from wallwatch_backend.notify.deliveries.sender import NO_ANSWER, Sender, client
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.notify.webhooks.urls import Address
from wallwatch_testing.local_http import LocalHttp, QuietHandler

NAME = "tickets.example"
AT = datetime(2026, 11, 21, tzinfo=UTC)
LOOPBACK, METADATA = ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("169.254.169.254")
PUBLIC = ipaddress.ip_address("1.1.1.1")
UNUSED = ipaddress.ip_address("127.0.0.77")  # local, and without a listener


class Server:
    """An HTTP server that notes the Host header and, with TLS, the name that was requested."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.hosts: list[str] = []
        self.names: list[str | None] = []
        noted = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                noted.hosts.append(self.headers["host"])
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(204)
                self.end_headers()

        if tls is not None:
            tls.sni_callback = lambda _, name, __: self.names.append(name)
        self._server = LocalHttp(Handler, tls)
        self.port = self._server.port

    def stop(self) -> None:
        self._server.stop()


class Resolver:
    """`urls.check` itself, with a name server of bad faith: each question is answered with the next answer."""

    def __init__(self, *answers: list[Address]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, url: str, allow_private: bool) -> list[Address]:
        loop = asyncio.get_running_loop()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "getaddrinfo", self._answer)
            return await urls.check(url, allow_private)

    async def _answer(self, host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        assert host.endswith(".example")
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (str(address), port)) for address in self.answers.pop(0)]


async def post(url: str, resolver: Resolver, verify: ssl.SSLContext | bool = True, allow_private: bool = True) -> Outcome:
    async with client(5, verify) as http:
        return await Sender(http, 5, allow_private, resolver).send(url, "{}", {"content-type": "application/json"}, AT)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


async def test_a_name_is_resolved_once_and_that_address_is_called(server: Server) -> None:
    resolver = Resolver([LOOPBACK], [METADATA])
    outcome = await post(f"http://{NAME}:{server.port}/hook", resolver)
    assert (outcome.status, outcome.error, resolver.asked) == (204, None, 1)
    assert server.hosts == [f"{NAME}:{server.port}"]


async def test_a_name_that_moves_to_a_forbidden_address_is_not_called_again(server: Server) -> None:
    resolver = Resolver([LOOPBACK], [METADATA])
    url = f"http://{NAME}:{server.port}/hook"
    await post(url, resolver)
    outcome = await post(url, resolver)
    assert outcome.status is None
    assert "169.254.169.254, which is link-local" in str(outcome.error)
    assert len(server.hosts) == 1


async def test_a_name_of_the_internal_network_is_called_only_where_private_receivers_are_allowed(server: Server) -> None:
    outcome = await post(f"http://{NAME}:{server.port}/hook", Resolver([LOOPBACK]), allow_private=False)
    assert (outcome.status, server.hosts) == (None, [])
    assert f"{NAME} has the address 127.0.0.1, which is private" in str(outcome.error)
    outcome = await post(f"http://{NAME}:{server.port}/hook", Resolver([PUBLIC, LOOPBACK]), allow_private=False)
    assert (outcome.status, server.hosts) == (None, [])


async def test_the_next_address_is_tried_when_the_first_refuses_connections(server: Server) -> None:
    outcome = await post(f"http://{NAME}:{server.port}/", Resolver([UNUSED, LOOPBACK]))
    assert outcome.delivered
    outcome = await post(f"http://{NAME}:{server.port}/", Resolver([UNUSED]))
    assert outcome.error == NO_ANSWER  # a private address: its cause is in the log only


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS contexts of a server with a certificate for the name, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, key_pem = folder / "cert.pem", folder / "key.pem"
    pem.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    key_pem.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem, key_pem)
    return serving, ssl.create_default_context(cafile=str(pem))


async def test_tls_requests_the_name_and_verifies_it_although_an_address_is_called(tmp_path: Path) -> None:
    serving, trusting = certificate(tmp_path, NAME)
    server = Server(serving)
    try:
        outcome = await post(f"https://{NAME}:{server.port}/hook", Resolver([LOOPBACK]), trusting)
        assert outcome.delivered, outcome.error
        assert (server.names, server.hosts) == ([NAME], [f"{NAME}:{server.port}"])
        other = await post(f"https://other.example:{server.port}/hook", Resolver([LOOPBACK]), trusting)
        assert other.error == NO_ANSWER  # a private address: its cause is in the log only
        assert len(server.hosts) == 1, "nothing was sent to a server whose certificate is for another name"
    finally:
        server.stop()
