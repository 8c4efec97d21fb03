"""The TLS handshake of a connection to the agents' port.

A failure is counted and logged: the peer, the reason, and what to do.

By itself asyncio closes the connection at a failure: nothing says which peer it was, and the peer gets no alert, so it
does not learn the reason either. Here a protocol that knows its peer does the handshake after the connection was
accepted, and sends the alert before it closes.
"""

import asyncio
import ssl
from asyncio.transports import BaseTransport, Transport
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from prometheus_client import Counter

from wallwatch_backend.hosts.connections.rejections import RejectionLog
from wallwatch_backend.kit.serving.connections import Connections

HANDSHAKES = Counter("wallwatch_agent_tls_handshakes", "TLS handshakes started on the agents' port, including failed ones")
FAILED = Counter("wallwatch_agent_tls_failures", "Connections to the agents' port whose TLS handshake failed, by reason", ["reason"])

TIMEOUT_S = 10.0
"""How long a handshake may take, and how long a peer whose handshake failed may stay connected to read the alert."""

_UNKNOWN_AUTHORITY = {2, 18, 19, 20, 21}
"""X509_V_ERR_* of OpenSSL: no issuer, self-signed, unknown issuer."""
_NO_TLS = ("HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG", "BAD_RECORD_TYPE")


class Failure(NamedTuple):
    """Why a handshake failed. `why` is a clause about the peer, `do` the advice to the operator."""

    reason: str
    why: str
    do: str


def explain_failure(error: BaseException | type[BaseException], called: str | None, own_name: str) -> Failure:
    """Return why a handshake failed.

    Parameters
    ----------
    error : the error of the TLS library or the network.
    called : the server name that the peer requested; None if it used an address, or failed before it sent one.
    own_name : the name in the port's certificate.

    Examples
    --------
    >>> explain_failure(ConnectionResetError(), None, "wallwatch.example").reason
    'hung_up'
    """
    text = (getattr(error, "reason", None) or "").replace("ALERT_ACCESS_DENIED", "ALERT_CERTIFICATE_UNKNOWN")
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _UNKNOWN_AUTHORITY:
            return Failure("unknown_authority", "its certificate was not signed by an authority of this server", "Enrol the agent again.")
        return Failure("bad_certificate", f"its certificate is not valid: {error.verify_message}", "Enrol the agent again.")
    if "ALERT" in text and ("CERTIFICATE" in text or "UNKNOWN_CA" in text):
        if called is not None and called.lower() != own_name.lower():
            why = f"it calls this server {called}, and the certificate is for {own_name}"
            return Failure("wrong_name", why, "Set WALLWATCH_AGENT_URL to the address that hosts use.")
        do = "The agent's log says whether the cause is the authority, the name or its clock."
        return Failure("server_not_trusted", "it does not trust this server's certificate", do)
    if "UNSUPPORTED_PROTOCOL" in text or "PROTOCOL_VERSION" in text or "NO_SHARED_CIPHER" in text:
        return Failure("old_tls", "it does not support TLS 1.3", "Update the agent, or the proxy between it and this port.")
    if any(mark in text for mark in _NO_TLS):
        return Failure("no_tls", "it does not send TLS", "Connect to this port with https:// or wss:// only.")
    if isinstance(error, ConnectionAbortedError | TimeoutError):
        return Failure(
            "too_slow", f"the handshake took more than {TIMEOUT_S:.0f} s", "Check the network in between, and this server's load."
        )
    if isinstance(error, ssl.SSLError):
        return Failure("other", f"the TLS library reports: {text or error}", "Check whether the peer is an agent.")
    do = "Health checks and port scans do that; for an agent, see its log."
    return Failure("hung_up", "it closed the connection during the handshake", do)


class _Handshake(ssl.SSLObject):
    """Keeps its failure and waits for more data, so that asyncio sends the alert and the peer closes the connection."""

    failure: ssl.SSLError | None = None
    called: str | None = None
    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO

    def do_handshake(self) -> None:
        if self.failure is None:
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                self.failure = error
                if not self.outgoing.pending:
                    raise  # no alert to send: the peer sent one, or speaks another protocol
            else:
                return
        self.incoming.read()  # data after a failure is dropped, however much it is
        raise ssl.SSLWantReadError


class _OfConnection(ssl.SSLContext):
    """The context of a port, for the handshake of one connection.

    An event loop makes handshakes from a context and tells it nothing of the connection, and uvloop runs the callbacks of all
    connections of a server with the same context variables.
    """

    def __new__(cls, _port: ssl.SSLContext, _connection: "HandshakeProtocol") -> "_OfConnection":
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, port: ssl.SSLContext, connection: "HandshakeProtocol") -> None:
        self._port, self._connection = port, connection

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *positional: Any, **named: Any) -> ssl.SSLObject:
        handshake = self._port.wrap_bio(incoming, outgoing, *positional, **named)
        if isinstance(handshake, _Handshake):
            handshake.incoming, handshake.outgoing, self._connection.handshake = incoming, outgoing, handshake
        incoming.write(self._connection.take_early())
        return handshake


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = _Handshake
    context.sni_callback = _started
    return context


def _started(handshake: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
    HANDSHAKES.inc()
    if isinstance(handshake, _Handshake):
        handshake.called = name


@dataclass(frozen=True)
class PortTls:
    """What all handshakes of a port share."""

    context: ssl.SSLContext
    own_name: str
    rejections: RejectionLog
    connections: Connections


class HandshakeProtocol(asyncio.Protocol):
    """A connection until its handshake is done; then `serve` creates the protocol that takes it over."""

    def __init__(self, tls: PortTls, serve: Callable[[], asyncio.Protocol], tasks: set[asyncio.Task[None]]) -> None:
        self._tls, self._serve, self._tasks = tls, serve, tasks
        self.handshake: _Handshake | None = None
        self._server: asyncio.Protocol | None = None
        self._early = b""
        self._lost = False
        self.address: str | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        stream = cast(Transport, transport)  # uvloop's is not a subclass of it
        peer = stream.get_extra_info("peername")
        self.address = str(peer[0]) if peer else None
        if not self._tls.connections.enter(self):
            stream.abort()
            return
        stream.pause_reading()  # its first bytes are the handshake's; uvloop may deliver some anyway
        task = asyncio.get_running_loop().create_task(self._shake_hands(stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _shake_hands(self, transport: Transport) -> None:
        address = self.address or "unknown"
        loop = asyncio.get_running_loop()
        try:
            if transport.is_closing():
                raise ConnectionResetError
            own = _OfConnection(self._tls.context, self)
            secured = await loop.start_tls(transport, self, own, server_side=True, ssl_handshake_timeout=TIMEOUT_S)
        except OSError as error:
            transport.abort()
            self._tls.connections.leave(self)
            self._failed(address, error)
            return
        if secured is None or self._lost:
            return
        self._tls.connections.leave(self)  # the next protocol counts itself
        self._server = self._serve()
        secured.set_protocol(self._server)
        self._server.connection_made(secured)
        if early := self.take_early():
            self._server.data_received(early)

    def _failed(self, address: str, error: BaseException) -> None:
        called = self.handshake.called if self.handshake is not None else None
        if self.handshake is not None and self.handshake.failure is not None:
            error = self.handshake.failure
        failure = explain_failure(error, called, self._tls.own_name)
        FAILED.labels(failure.reason).inc()
        self._tls.rejections.add(
            "agent_handshake_failed", address, failure.reason, address=address, why=failure.why, do=failure.do, called=called
        )

    def take_early(self) -> bytes:
        """Return data that arrived before its reader existed: the start of the handshake, or what follows it."""
        early, self._early = self._early, b""
        return early

    def data_received(self, data: bytes) -> None:
        self._early += data

    def idle_since(self) -> float | None:
        return None

    def overdue(self, _now: float) -> str | None:
        """Nothing: `start_tls` limits the time of a handshake by itself."""
        return None

    def end(self, _reason: str) -> None:
        """Never called, because a handshake is neither idle nor overdue."""

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._tls.connections.leave(self)
        if self._server is not None:
            self._server.connection_lost(exc)
