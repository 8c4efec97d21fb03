"""The TLS port of agents: a second listener of this process that accepts only enrolment and OpAMP
(docs/decisions/0010).

A handshake proves that the agent has the key of a certificate that one of our authorities signed. Its validity, its
host and whether it was revoked are judged at the upgrade to OpAMP, by the database and this server's clock, where a
refusal can be explained, counted and audited.
"""

import asyncio
import os
import socket
import ssl
from asyncio.transports import BaseTransport
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, cast

import structlog
import uvicorn
from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from wallwatch_backend.hosts.addresses import ENROL_PATH, OPAMP_PATH
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.certificates.models import AuthorityRow
from wallwatch_backend.hosts.certificates.signing import Pair
from wallwatch_backend.hosts.connections.handshake import HandshakeProtocol, PortTls, server_context
from wallwatch_backend.hosts.connections.rejections import RejectionLog
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.serving.connections import Connections
from wallwatch_backend.kit.serving.protocol import BoundedHttp
from wallwatch_backend.kit.serving.server import limits_of
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
CALLS = Counter("wallwatch_agent_tls_calls", "OpAMP connections and enrolments through the agents' port", ["kind"])

PRESENTED = "agent_certificate"
"""Key in a connection's state: the certificate that the agent presented, DER, or None. Set on the TLS port only."""

_NO_CHECK_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL: an expired certificate is refused later, where the reason is logged."""
_RENEW_EVERY_S = 86_400.0
_RETRY_S = 30.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class _AgentSocket(WebSocketsSansIOProtocol):
    """Adds the certificate of the handshake to the connection's state, which the application reads."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        handshake = transport.get_extra_info("ssl_object")
        self.app_state = {**self.app_state, PRESENTED: handshake.getpeercert(binary_form=True) if handshake is not None else None}


class _Server(uvicorn.Server):
    def capture_signals(self) -> Any:
        return nullcontext()  # signals are the main server's; it stops this one


class AgentPort:
    """Runs alongside the main server, in its event loop and with its application."""

    def __init__(self, app: App, database: Database, cipher: SecretCipher, settings: Settings, rejections: RejectionLog) -> None:
        self._app, self._database, self._cipher, self._settings = app, database, cipher, settings
        host = settings.agent_url.host if settings.agent_url is not None else None
        self._name = host.strip("[]") if host else "localhost"
        self._context = server_context()
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        # An agent that enrols has no certificate yet; OpAMP refuses connections without one.
        self._context.verify_mode = ssl.CERT_OPTIONAL
        self._context.verify_flags |= _NO_CHECK_TIME
        self._connections = Connections(limits_of(settings), "agents")
        self._tls = PortTls(self._context, self._name, rejections, self._connections)
        self._trusted: set[str] = set()
        self._socket: socket.socket | None = None
        self._changed = asyncio.Event()

    def authorities_changed(self) -> None:
        """Load a new authority immediately."""
        self._changed.set()

    async def open(self) -> None:
        """Load a certificate and bind the port, before this process reports that it is ready.

        Raises
        ------
        AuthorityUnreadable
            When the authority's key was encrypted with another server's secrets.
        OSError
            When the port is in use.
        """
        await self._load_certificate()
        bind, port = self._settings.agent_bind, self._settings.agent_port or 0
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        self._socket = socket.create_server((bind, port), family=family, backlog=2048)
        log.info("agent_port", bind=bind, port=port, url=str(self._settings.agent_url))

    async def run(self) -> None:
        """Serve until cancelled. After an error it may be run again."""
        if self._socket is None or self._socket.fileno() < 0:
            await self.open()
        config = uvicorn.Config(
            self._route,
            interface="asgi3",  # uvicorn cannot detect it from a method
            http=cast(type[asyncio.Protocol], self._new_connection),  # called like a class
            ws=_AgentSocket,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # agents are not behind a proxy: the address is the peer's
            timeout_graceful_shutdown=2,
        )
        server = _Server(config)
        renewing = asyncio.create_task(self._renew())
        serving = asyncio.create_task(server.serve([self._socket] if self._socket is not None else None))
        try:
            await asyncio.shield(serving)
        finally:
            renewing.cancel()
            server.should_exit = True
            await serving

    def _new_connection(self, *, server_state: ServerState, **named: Any) -> asyncio.Protocol:
        served = partial(BoundedHttp, self._connections, server_state=server_state, **named)
        return HandshakeProtocol(self._tls, served, server_state.tasks)

    async def _renew(self) -> None:
        """Load a new certificate every day and after each change of authorities; existing connections stay."""
        pause_s = _RENEW_EVERY_S
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), pause_s)
            self._changed.clear()
            try:
                await self._load_certificate()
                pause_s = _RENEW_EVERY_S
            except (SQLAlchemyError, OSError, certificates.AuthorityUnreadable) as error:
                log.error("agent_port_certificate", error=str(error).splitlines()[0])
                pause_s = _RETRY_S

    async def _load_certificate(self) -> None:
        async with self._database.write() as session:
            await certificates.ensure(session, self._cipher)
        async with self._database.read() as session:
            pair, authorities = await certificates.for_port(session, self._cipher, [self._name])
        self._load(pair, authorities)

    def _load(self, pair: Pair, authorities: list[AuthorityRow]) -> None:
        # Handshakes trust a retired authority until a restart; `certificates.admit` refuses its certificates.
        for row in authorities:
            if row.fingerprint not in self._trusted:
                self._context.load_verify_locations(cadata=row.certificate)
                self._trusted.add(row.fingerprint)
        # With the authority, so that an agent can compare it with its token.
        chain = pair.certificate + authorities[0].certificate
        with _in_memory(chain) as certificate, _in_memory(pair.private_key) as key:
            self._context.load_cert_chain(certificate, key)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path")
        if scope["type"] == "websocket" and path == OPAMP_PATH:
            CALLS.labels("opamp").inc()
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and path == ENROL_PATH:
            CALLS.labels("enrol").inc()
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"This port is for agents only: enrolment and OpAMP.\n"})
        else:
            await send({"type": "websocket.close", "code": 1008})


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    """Return the path of a file that is never on a disk; the ssl module loads certificates and keys only from files."""
    descriptor = os.memfd_create("wallwatch")
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
