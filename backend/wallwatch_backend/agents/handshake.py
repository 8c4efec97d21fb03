"""The TLS handshake of a connection to the agents' port. One that fails is counted and told of: who called, why it failed, what to do.

asyncio alone hangs up at a failure: nobody hears who it was, and the peer gets no alert, so that it knows no reason either. Here the
handshake is done after the connection was accepted, by a protocol that knows its peer, and the alert is sent before the connection ends.
"""

import asyncio
import ssl
from asyncio.transports import BaseTransport, Transport
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from prometheus_client import Counter

from wallwatch_backend.agents.turned_away import TurnedAway

HANDSHAKES = Counter("wallwatch_agent_tls_handshakes", "TLS handshakes that began on the agents' port; a failed one is no call")
FAILED = Counter("wallwatch_agent_tls_failures", "Connections to the agents' port whose TLS handshake failed, by the reason", ["reason"])

WITHIN_S = 10.0
"""How long a handshake may take, and how long a peer that failed may stay to read why."""

_NO_AUTHORITY = {2, 18, 19, 20, 21}
"""X509_V_ERR_* of OpenSSL: no issuer, self-signed, one that is not known."""
_NO_TLS = ("HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG", "BAD_RECORD_TYPE")


class Failure(NamedTuple):
    """Why a handshake failed, for people: `why` is about the peer."""

    reason: str
    why: str
    do: str


def explained(error: BaseException | type[BaseException], called: str | None, own_name: str) -> Failure:
    """Name the failure of a handshake.

    Parameters
    ----------
    error : what the TLS library or the network said.
    called : the name by which the peer called this server; None where it used an address, or came not so far.
    own_name : the name that the port's certificate is for.

    Examples
    --------
    >>> explained(ConnectionResetError(), None, "wallwatch.example").reason
    'hung_up'
    """
    text = (getattr(error, "reason", None) or "").replace("ALERT_ACCESS_DENIED", "ALERT_CERTIFICATE_UNKNOWN")
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _NO_AUTHORITY:
            return Failure("unknown_authority", "its certificate comes from no authority of this server", "Enrol the agent again.")
        return Failure("bad_certificate", f"its certificate cannot be used: {error.verify_message}", "Enrol the agent again.")
    if "ALERT" in text and ("CERTIFICATE" in text or "UNKNOWN_CA" in text):
        if called is not None and called.lower() != own_name.lower():
            why = f"it calls this server {called}, and the certificate is for {own_name}"
            return Failure("wrong_name", why, "Set WALLWATCH_AGENT_URL to the address that hosts use.")
        do = "Its own log says whether it is the authority, the name or its clock."
        return Failure("server_not_trusted", "it does not trust this server's certificate", do)
    if "UNSUPPORTED_PROTOCOL" in text or "PROTOCOL_VERSION" in text or "NO_SHARED_CIPHER" in text:
        return Failure("old_tls", "it has no TLS 1.3", "Update the agent, or what stands between it and this port.")
    if any(mark in text for mark in _NO_TLS):
        return Failure("no_tls", "what it sends is no TLS", "Call this port by https:// and wss:// only.")
    if isinstance(error, ConnectionAbortedError | TimeoutError):
        return Failure(
            "too_slow", f"the handshake was not done after {WITHIN_S:.0f} s", "Look at the network between, and at this server's load."
        )
    if isinstance(error, ssl.SSLError):
        return Failure("other", f"the TLS library says: {text or error}", "See whether it is an agent at all.")
    return Failure("hung_up", "it hung up in the handshake", "Health checks and scans of ports do that; of an agent, look at its log.")


class _Handshake(ssl.SSLObject):
    """Remembers its failure, and goes on as if it waited for more: so asyncio sends the alert, and the peer is who hangs up."""

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
                    raise  # there is no alert: it came from the peer, or the peer speaks another protocol
            else:
                return
        self.incoming.read()  # what comes after a failure is dropped, however much it is
        raise ssl.SSLWantReadError


class Context(ssl.SSLContext):
    """A server's TLS settings whose handshakes are told apart."""

    sslobject_class = _Handshake

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *positional: Any, **named: Any) -> ssl.SSLObject:
        made = super().wrap_bio(incoming, outgoing, *positional, **named)
        if isinstance(made, _Handshake) and (arrival := _ARRIVAL.get()) is not None:
            made.incoming, made.outgoing, arrival.handshake = incoming, outgoing, made
            incoming.write(arrival.take_early())
        return made


def server_context() -> Context:
    made = Context(ssl.PROTOCOL_TLS_SERVER)
    made.sni_callback = _began
    return made


def _began(handshake: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
    HANDSHAKES.inc()
    if isinstance(handshake, _Handshake):
        handshake.called = name


@dataclass(frozen=True)
class Door:
    """What all handshakes of a port share."""

    context: Context
    own_name: str
    turned_away: TurnedAway


class Arrival(asyncio.Protocol):
    """A connection until its handshake is done; then `serve` makes the protocol that it belongs to."""

    def __init__(self, door: Door, serve: Callable[[], asyncio.Protocol], tasks: set[asyncio.Task[None]]) -> None:
        self._door, self._serve, self._tasks = door, serve, tasks
        self.handshake: _Handshake | None = None
        self._server: asyncio.Protocol | None = None
        self._early = b""
        self._lost = False

    def connection_made(self, transport: BaseTransport) -> None:
        _ARRIVAL.set(self)  # here, as uvloop works in the context of the connection and asyncio in that of the task
        stream = cast(Transport, transport)  # uvloop's are no subclass of it
        stream.pause_reading()  # its first bytes are the handshake's; uvloop may bring some all the same
        task = asyncio.get_running_loop().create_task(self._shake_hands(stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _shake_hands(self, transport: Transport) -> None:
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else "unknown"
        loop = asyncio.get_running_loop()
        try:
            if transport.is_closing():
                raise ConnectionResetError
            secured = await loop.start_tls(transport, self, self._door.context, server_side=True, ssl_handshake_timeout=WITHIN_S)
        except OSError as error:
            transport.abort()
            self._failed(address, error)
            return
        if secured is None or self._lost:
            return
        self._server = self._serve()
        secured.set_protocol(self._server)
        self._server.connection_made(secured)
        if early := self.take_early():
            self._server.data_received(early)

    def _failed(self, address: str, error: BaseException) -> None:
        called = self.handshake.called if self.handshake is not None else None
        if self.handshake is not None and self.handshake.failure is not None:
            error = self.handshake.failure
        failure = explained(error, called, self._door.own_name)
        FAILED.labels(failure.reason).inc()
        self._door.turned_away.note(
            "agent_handshake_failed", address, failure.reason, address=address, why=failure.why, do=failure.do, called=called
        )

    def take_early(self) -> bytes:
        """What came before its reader was there: the begin of the handshake, or what follows it within one turn of the loop."""
        early, self._early = self._early, b""
        return early

    def data_received(self, data: bytes) -> None:
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._server is not None:
            self._server.connection_lost(exc)


_ARRIVAL: ContextVar[Arrival | None] = ContextVar("arrival", default=None)
