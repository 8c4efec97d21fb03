"""The TLS port of agents: a second listener of this process that lets in two things, enrolment and OpAMP (docs/decisions/0010).

A handshake shows that the agent has the key of a certificate that one of our authorities has signed. Its time, its host and whether it was
revoked are judged at the upgrade to OpAMP, by the database and this server's clock, where a refusal can be named, counted and audited.
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
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from wallwatch_backend.agents.handshake import Arrival, Door, server_context
from wallwatch_backend.agents.service import ENROL_PATH, OPAMP_PATH
from wallwatch_backend.agents.turned_away import TurnedAway
from wallwatch_backend.certificates import service as certificates
from wallwatch_backend.certificates.making import Pair
from wallwatch_backend.certificates.models import AuthorityRow
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks.cipher import SecretCipher

log = structlog.get_logger(__name__)
CALLS = Counter("wallwatch_agent_tls_calls", "OpAMP connections and enrolments that came through the agents' port", ["kind"])

SHOWN = "agent_certificate"
"""Name in a connection's state: the certificate that the agent showed, DER, or None. There on the TLS port only."""

_NO_CHECK_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL: an ended certificate is refused later, for a reason that logs have."""
_FRESH_CERTIFICATE_S = 86_400.0
_TRY_AGAIN_S = 30.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class _AgentSocket(WebSocketsSansIOProtocol):
    """Adds the certificate of the handshake to what the application sees of a connection."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        handshake = transport.get_extra_info("ssl_object")
        self.app_state = {**self.app_state, SHOWN: handshake.getpeercert(binary_form=True) if handshake is not None else None}


class _Server(uvicorn.Server):
    def capture_signals(self) -> Any:
        return nullcontext()  # signals are the main server's; it stops this one


class AgentPort:
    """Runs beside the main server, in its event loop and with its application."""

    def __init__(self, app: App, database: Database, cipher: SecretCipher, settings: Settings, turned_away: TurnedAway) -> None:
        self._app, self._database, self._cipher, self._settings = app, database, cipher, settings
        host = settings.agent_url.host if settings.agent_url is not None else None
        self._name = host.strip("[]") if host else "localhost"
        self._context = server_context()
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        # An agent that enrols has no certificate yet; whoever comes to OpAMP without one is refused there.
        self._context.verify_mode = ssl.CERT_OPTIONAL
        self._context.verify_flags |= _NO_CHECK_TIME
        self._door = Door(self._context, self._name, turned_away)
        self._trusted: set[str] = set()
        self._socket: socket.socket | None = None
        self._changed = asyncio.Event()

    def authorities_changed(self) -> None:
        """Take up a new authority now."""
        self._changed.set()

    async def open(self) -> None:
        """Take a certificate and bind the port, before anything says that this process is ready.

        Raises
        ------
        AuthorityUnreadable
            When the authority was made with another server's secrets.
        OSError
            When the port is taken.
        """
        await self._take_certificate()
        bind, port = self._settings.agent_bind, self._settings.agent_port or 0
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        self._socket = socket.create_server((bind, port), family=family, backlog=2048)
        log.info("agent_port", bind=bind, port=port, url=str(self._settings.agent_url))

    async def run(self) -> None:
        """Serve until cancelled; when it was ended by an error it may be run again."""
        if self._socket is None or self._socket.fileno() < 0:
            await self.open()
        config = uvicorn.Config(
            self._enter,
            interface="asgi3",  # it is not found out of a method
            http=cast(type[asyncio.Protocol], self._arrive),  # called for each connection, like the class that it stands for
            ws=_AgentSocket,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # agents are no proxies: the address is the peer's
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

    def _arrive(self, *, server_state: ServerState, **named: Any) -> asyncio.Protocol:
        served: Callable[..., asyncio.Protocol] = AutoHTTPProtocol
        return Arrival(self._door, partial(served, server_state=server_state, **named), server_state.tasks)

    async def _renew(self) -> None:
        """Show a fresh certificate each day, and a new authority's at once; what is connected stays."""
        wait = _FRESH_CERTIFICATE_S
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)
            self._changed.clear()
            try:
                await self._take_certificate()
                wait = _FRESH_CERTIFICATE_S
            except (SQLAlchemyError, OSError, certificates.AuthorityUnreadable) as error:
                log.error("agent_port_certificate", error=str(error).splitlines()[0])
                wait = _TRY_AGAIN_S

    async def _take_certificate(self) -> None:
        async with self._database.write() as session:
            await certificates.ensure(session, self._cipher)
        async with self._database.read() as session:
            pair, authorities = await certificates.for_port(session, self._cipher, [self._name])
        self._load(pair, authorities)

    def _load(self, pair: Pair, authorities: list[AuthorityRow]) -> None:
        # An authority that has ended stays known to handshakes until a restart; the database refuses its certificates.
        for row in authorities:
            if row.fingerprint not in self._trusted:
                self._context.load_verify_locations(cadata=row.certificate)
                self._trusted.add(row.fingerprint)
        chain = pair.certificate + authorities[0].certificate  # whole, so that an agent that enrols can compare it with its token
        with _in_memory(chain) as certificate, _in_memory(pair.private_key) as key:
            self._context.load_cert_chain(certificate, key)

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path")
        if scope["type"] == "websocket" and path == OPAMP_PATH:
            CALLS.labels("opamp").inc()
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and path == ENROL_PATH:
            CALLS.labels("enrol").inc()
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"This port is for agents: enrolment and OpAMP alone.\n"})
        else:
            await send({"type": "websocket.close", "code": 1008})


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    """A file that is never on a disk; the ssl module takes certificates and keys from files only."""
    descriptor = os.memfd_create("wallwatch")
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
