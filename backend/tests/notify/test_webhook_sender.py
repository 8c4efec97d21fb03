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
from wallwatch_backend.notify.deliveries.worker import pause_after_s
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.notify.webhooks.urls import Address
from wallwatch_backend.settings import Settings
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


class Answering:
    """A server with given answers. The fixture `public` makes its address pass for a public one."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        class Handler(QuietHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self._server = LocalHttp(Handler)
        self.url = f"http://{NAME}:{self._server.port}"

    def stop(self) -> None:
        self._server.stop()


async def answer_of(
    status: int, body: bytes, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch, path: str = "/hook", secrets: tuple[str, ...] = ()
) -> Outcome:
    monkeypatch.setattr(urls, "is_private", lambda address: False)
    server = Answering(status, body, headers)
    try:
        async with client(5) as http:
            return await Sender(http, 5, True, Resolver([LOOPBACK])).send(server.url + path, "{}", {}, AT, secrets)
    finally:
        server.stop()


JSON = {"content-type": "application/json; charset=utf-8"}


async def test_a_refusal_has_the_words_of_the_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await answer_of(400, b'{"message":\n "no such\x00 severity"}', JSON, monkeypatch)
    assert (outcome.status, outcome.refused) == (400, True)
    assert outcome.error == 'the receiver refused it, so it is not sent again: {"message": "no such severity"}'


async def test_an_answer_that_may_change_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await answer_of(429, b"slow down", {"content-type": "text/plain", "retry-after": "7"}, monkeypatch)
    assert (outcome.refused, outcome.retry_after_s, outcome.error) == (False, 7.0, "the receiver answered 429: slow down")


async def test_of_a_long_answer_only_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await answer_of(413, b"too large " * 10_000, {"content-type": "text/plain"}, monkeypatch)
    assert outcome.refused
    assert len(str(outcome.error)) < 400


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "text/html"}, {"content-type": "text/plain", "content-encoding": "gzip"}, {}],
    ids=["page", "gzip", "unknown"],
)
async def test_what_people_cannot_read_is_left_out(monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]) -> None:
    outcome = await answer_of(404, b"<html>not found</html>", headers, monkeypatch)
    assert outcome.error == "the receiver refused it, so it is not sent again"


async def test_what_a_receiver_repeats_of_our_secrets_is_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/services/T024/0123456789abcdef?key=fedcba9876543210"
    said = f"no route {path}; 0123456789abcdef, fedcba9876543210 and key-of-a-pager are unknown".encode()
    outcome = await answer_of(404, said, {"content-type": "text/plain"}, monkeypatch, path, ("key-of-a-pager",))
    assert outcome.error == "the receiver refused it, so it is not sent again: no route …; …, … and … are unknown"


async def test_what_a_private_receiver_says_is_in_the_log_of_the_server_only() -> None:
    server = Answering(403, b"who are you", {"content-type": "text/plain"})
    try:
        outcome = await post(f"{server.url}/hook", Resolver([LOOPBACK]))
    finally:
        server.stop()
    assert (outcome.status, outcome.refused) == (403, True)
    assert outcome.error == "the receiver refused it, so it is not sent again; its answer is in the server's log"


def test_no_receiver_can_ask_for_a_pause_longer_than_the_longest() -> None:
    settings = Settings(webhook_retry_max_s=60)
    asked = [Outcome(AT, 429, 1, "later", retry_after_s=pause) for pause in (None, 5.0, 45.0, 1e9)]
    assert [pause_after_s(settings, outcome, 10.0) for outcome in asked] == [10.0, 10.0, 45.0, 60.0]


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
