"""Handshakes of the agents' port that fail: each has a reason in the log and in a metric, and the peer gets the alert that says it."""

import asyncio
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

from wallwatch_backend.agents import turned_away as module
from wallwatch_backend.agents.handshake import Arrival, Door, explained, server_context
from wallwatch_backend.agents.turned_away import MOST_PEERS, TurnedAway
from wallwatch_backend.certificates import making
from wallwatch_backend.kit import clock


class Noted(TurnedAway):
    """Keeps what would be logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: asyncio.Queue[dict[str, str | None]] = asyncio.Queue()

    def note(self, event: str, peer: str, code: str, **detail: str | None) -> None:
        self.said.put_nowait({"event": event, "peer": peer, "code": code, **detail})


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Site:
    """An authority, a server's certificate for `localhost`, and agents."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.authority = folder, making.new_authority(clock.now())
        self.server = self._file("server", making.server_certificate(self.authority, ["localhost"], clock.now()))

    def _file(self, name: str, pair: making.Pair) -> Path:
        path = self.folder / f"{name}.pem"
        path.write_text(pair.certificate + pair.private_key)
        return path

    def agent(self, name: str, authority: making.Pair | None = None) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
        at = clock.now()
        made = making.agent_certificate(authority or self.authority, request.public_bytes(Encoding.PEM), name, at, at.replace(year=2100))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return self._file(name, making.Pair(made.public_bytes(Encoding.PEM).decode(), private))

    def client(self, shown: Path | None, *, trusts: making.Pair | None = None) -> ssl.SSLContext:
        made = ssl.create_default_context(cadata=(trusts or self.authority).certificate)
        if shown is not None:
            made.load_cert_chain(shown)
        return made

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[int, Noted]]:
        context = server_context()
        context.minimum_version, context.verify_mode = ssl.TLSVersion.TLSv1_3, ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self.authority.certificate)
        context.load_cert_chain(self.server)
        noted, tasks = Noted(), set[asyncio.Task[None]]()
        door = Door(context, "localhost", noted)
        server = await asyncio.get_running_loop().create_server(lambda: Arrival(door, Echo, tasks), "127.0.0.1", 0)
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
    """What comes back of what was said. A client of TLS 1.3 learns of a refusal when it reads."""
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain, server_hostname=called) as secured:
        secured.settimeout(20)
        secured.sendall(b"hello")
        return secured.recv(5)


def test_what_comes_through_the_handshake_is_served_at_once(runner: asyncio.Runner, site: Site) -> None:
    async def scene() -> None:
        async with site.open() as (port, noted):
            for shown in (site.agent("host01"), None):
                assert await asyncio.to_thread(talk, port, site.client(shown)) == b"hello"
            assert noted.said.empty()

    runner.run(scene())


def test_an_agent_of_another_authority_gets_the_alert_that_says_so(runner: asyncio.Runner, site: Site) -> None:
    async def scene() -> None:
        stranger = site.agent("stranger", making.new_authority(clock.now()))
        async with site.open() as (port, noted):
            with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
                await asyncio.to_thread(talk, port, site.client(stranger))
            said = await noted.said.get()
            assert (said["event"], said["peer"], said["code"]) == ("agent_handshake_failed", "127.0.0.1", "unknown_authority")
            assert said["do"] == "Enrol the agent again."

    runner.run(scene())


def wrong_name(site: Site, port: int) -> None:
    talk(port, site.client(None), "wallwatch.example")


def not_trusted(site: Site, port: int) -> None:
    talk(port, site.client(None, trusts=making.new_authority(clock.now())))


def old_tls(site: Site, port: int) -> None:
    context = site.client(None)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    talk(port, context)


def no_tls(_: Site, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not plain.recv(100), "there is no alert for such a peer"
        raise ConnectionError


def hung_up(_: Site, port: int) -> None:
    socket.create_connection(("127.0.0.1", port)).close()
    raise ConnectionError


@pytest.mark.parametrize("attempt", [wrong_name, not_trusted, old_tls, no_tls, hung_up], ids=lambda attempt: attempt.__name__)
def test_each_failure_has_a_name(runner: asyncio.Runner, site: Site, attempt: Callable[[Site, int], None]) -> None:
    async def scene() -> None:
        async with site.open() as (port, noted):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asyncio.to_thread(attempt, site, port)
            said = await noted.said.get()
            expected = {"not_trusted": "server_not_trusted"}.get(attempt.__name__, attempt.__name__)
            assert said["code"] == expected
            assert said["why"], "it says why"
            assert said["do"], "it says what to do"
            assert said["called"] == (
                {"wrong_name": "wallwatch.example", "not_trusted": "localhost", "old_tls": said["called"]}.get(attempt.__name__)
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
def test_what_no_client_can_be_made_to_do_is_named_too(error: OSError, reason: str) -> None:
    assert explained(error, None, "localhost").reason == reason


def test_a_peer_that_tries_again_and_again_is_told_of_ever_more_rarely(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[dict[str, object]] = []
    monkeypatch.setattr(module.log, "warning", lambda event, **detail: lines.append({"event": event, **detail}), raising=False)
    told = TurnedAway()
    for _ in range(50):
        told.note("agent_handshake_failed", "192.0.2.1", "unknown_authority", why="x")
        told.note("agent_handshake_failed", "192.0.2.1", "wrong_name", why="y")
    assert [line["code"] for line in lines] == ["unknown_authority", "wrong_name"]


def test_a_thousand_addresses_and_more_share_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(module.log, "warning", lambda event, **_: lines.append(event), raising=False)
    told = TurnedAway()
    for number in range(MOST_PEERS + 500):
        told.note("agent_handshake_failed", f"2001:db8::{number:x}", "hung_up", why="x")
    assert len(lines) == MOST_PEERS + 1
