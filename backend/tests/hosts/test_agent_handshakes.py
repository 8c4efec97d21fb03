"""Handshakes of the agents' port that fail: each has a reason in the log and in a metric, and the peer gets the alert that says it."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from wallwatch_backend.hosts.certificates import signing
from wallwatch_backend.hosts.connections import rejections as module
from wallwatch_backend.hosts.connections.handshake import HandshakeProtocol, PortTls, explain_failure, server_context
from wallwatch_backend.hosts.connections.rejections import MAX_PEERS, RejectionLog
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.serving.connections import Connections, Limits


class RecordedRejections(RejectionLog):
    """Keeps what would be logged."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: asyncio.Queue[dict[str, str | None]] = asyncio.Queue()

    def add(self, event: str, peer: str, code: str, **detail: str | None) -> None:
        self.entries.put_nowait({"event": event, "peer": peer, "code": code, **detail})


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Site:
    """An authority, a server's certificate for `localhost`, and agents."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.authority = folder, signing.new_authority(clock.now())
        self.server = self._file("server", signing.server_certificate(self.authority, ["localhost"], clock.now()))

    def _file(self, name: str, pair: signing.Pair) -> Path:
        path = self.folder / f"{name}.pem"
        path.write_text(pair.certificate + pair.private_key)
        return path

    def agent(self, name: str, authority: signing.Pair | None = None) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
        at = clock.now()
        made = signing.agent_certificate(authority or self.authority, request.public_bytes(Encoding.PEM), name, at, at.replace(year=2100))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return self._file(name, signing.Pair(made.public_bytes(Encoding.PEM).decode(), private))

    def client(self, shown: Path | None, *, trusts: signing.Pair | None = None) -> ssl.SSLContext:
        made = ssl.create_default_context(cadata=(trusts or self.authority).certificate)
        if shown is not None:
            made.load_cert_chain(shown)
        return made

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[int, RecordedRejections]]:
        context = server_context()
        context.minimum_version, context.verify_mode = ssl.TLSVersion.TLSv1_3, ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self.authority.certificate)
        context.load_cert_chain(self.server)
        noted, tasks = RecordedRejections(), set[asyncio.Task[None]]()
        door = PortTls(context, "localhost", noted, Connections(Limits(), "agents"))
        server = await asyncio.get_running_loop().create_server(lambda: HandshakeProtocol(door, Echo, tasks), "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[1], noted
        await asyncio.gather(*tasks)
        server.close()  # and no waiting for peers that went without a word


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("site"))


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    with asyncio.Runner(loop_factory=request.param) as made:
        yield made


def talk(port: int, context: ssl.SSLContext, called: str = "localhost") -> bytes:
    """Send a greeting and return what comes back. A client of TLS 1.3 learns of a refusal when it reads."""
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain, server_hostname=called) as secured:
        secured.settimeout(20)
        secured.sendall(b"hello")
        return secured.recv(5)


def test_a_connection_is_served_right_after_its_handshake(runner: asyncio.Runner, site: Site) -> None:
    async def scene() -> None:
        async with site.open() as (port, noted):
            for shown in (site.agent("host01"), None):
                assert await asyncio.to_thread(talk, port, site.client(shown)) == b"hello"
            assert noted.entries.empty()

    runner.run(scene())


AT_ONCE = 16


def begun(port: int, context: ssl.SSLContext) -> tuple[socket.socket, ssl.SSLObject, ssl.MemoryBIO, ssl.MemoryBIO]:
    """Connect and send the first message of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    plain = socket.create_connection(("127.0.0.1", port))
    plain.settimeout(60)
    plain.sendall(outgoing.read())
    return plain, tls, incoming, outgoing


def finished(plain: socket.socket, tls: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> bool:
    """Finish a handshake; False if the server hangs up. The error says what is wrong with its answer."""
    with plain:
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                if not (data := plain.recv(65_536)):
                    return False
                incoming.write(data)
                continue
            plain.sendall(outgoing.read())
            return True


def test_agents_that_all_come_back_at_the_same_moment_do_not_get_each_other_s_handshakes(runner: asyncio.Runner, site: Site) -> None:
    async def scene() -> None:
        async with site.open() as (port, noted):
            context = site.client(site.agent("host01"))
            # The loop does nothing else meanwhile: the first messages of all are there before it accepts the first one.
            handshakes = [begun(port, context) for _ in range(AT_ONCE)]
            assert await asyncio.gather(*(asyncio.to_thread(finished, *one) for one in handshakes)) == [True] * AT_ONCE
            assert noted.entries.empty()

    runner.run(scene())


def test_an_agent_of_another_authority_gets_the_alert_that_says_so(runner: asyncio.Runner, site: Site) -> None:
    async def scene() -> None:
        stranger = site.agent("stranger", signing.new_authority(clock.now()))
        async with site.open() as (port, noted):
            with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
                await asyncio.to_thread(talk, port, site.client(stranger))
            entry = await noted.entries.get()
            assert (entry["event"], entry["peer"], entry["code"]) == ("agent_handshake_failed", "127.0.0.1", "unknown_authority")
            assert entry["do"] == "Enrol the agent again."

    runner.run(scene())


def wrong_name(site: Site, port: int) -> None:
    talk(port, site.client(None), "wallwatch.example")


def not_trusted(site: Site, port: int) -> None:
    talk(port, site.client(None, trusts=signing.new_authority(clock.now())))


def old_tls(site: Site, port: int) -> None:
    context = site.client(None)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    talk(port, context)


def no_tls(_: Site, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not plain.recv(100), "a peer without TLS gets no alert"
        raise ConnectionError


def hung_up(_: Site, port: int) -> None:
    socket.create_connection(("127.0.0.1", port)).close()
    raise ConnectionError


@pytest.mark.parametrize("attempt", [wrong_name, not_trusted, old_tls, no_tls, hung_up], ids=lambda attempt: attempt.__name__)
def test_each_failure_has_a_code(runner: asyncio.Runner, site: Site, attempt: Callable[[Site, int], None]) -> None:
    async def scene() -> None:
        async with site.open() as (port, noted):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asyncio.to_thread(attempt, site, port)
            entry = await noted.entries.get()
            expected = {"not_trusted": "server_not_trusted"}.get(attempt.__name__, attempt.__name__)
            assert entry["code"] == expected
            assert entry["why"], "it has a reason"
            assert entry["do"], "it has advice"
            assert entry["called"] == (
                {"wrong_name": "wallwatch.example", "not_trusted": "localhost", "old_tls": entry["called"]}.get(attempt.__name__)
            )

    runner.run(scene())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionAbortedError("SSL handshake is taking longer than 10 seconds"), "too_slow"),
        (ConnectionResetError(), "hung_up"),
        (ssl.SSLError(1, "[SSL] internal error"), "other"),
    ],
)
def test_failures_that_no_client_can_cause_have_codes_too(error: OSError, reason: str) -> None:
    assert explain_failure(error, None, "localhost").reason == reason


def test_repeated_rejections_of_a_peer_are_suppressed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    lines: list[dict[str, object]] = []
    monkeypatch.setattr(module.log, "warning", lambda event, **detail: lines.append({"event": event, **detail}), raising=False)
    log = RejectionLog()
    for _ in range(50):
        log.add("agent_handshake_failed", "192.0.2.1", "unknown_authority", why="x")
        log.add("agent_handshake_failed", "192.0.2.1", "wrong_name", why="y")
    assert [line["code"] for line in lines] == ["unknown_authority", "wrong_name"]


def test_peers_beyond_a_thousand_share_one_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(module.log, "warning", lambda event, **_: lines.append(event), raising=False)
    log = RejectionLog()
    for number in range(MAX_PEERS + 500):
        log.add("agent_handshake_failed", f"2001:db8::{number:x}", "hung_up", why="x")
    assert len(lines) == MAX_PEERS + 1
