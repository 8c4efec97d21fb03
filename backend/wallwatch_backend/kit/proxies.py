"""The client behind trusted proxies: its address from X-Forwarded-For and its scheme from X-Forwarded-Proto.

Whoever connects may send these headers, so they count only from a trusted proxy, and of X-Forwarded-For only what trusted proxies
have appended: the last address that is not one of theirs. uvicorn's own `proxy_headers` must be off: it trusts loopback by default.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

log = structlog.get_logger(__name__)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_MOST_HOPS = 32
_SCHEMES = {("http", "https"): "https", ("http", "http"): "http", ("websocket", "https"): "wss", ("websocket", "http"): "ws"}


def parse_address(text: str) -> Address | None:
    """Return an address, also with a port or in brackets; None for anything else.

    >>> [str(parse_address(text)) for text in ("192.0.2.1:443", "[2001:db8::1]:9", "::ffff:192.0.2.1", "unknown")]
    ['192.0.2.1', '2001:db8::1', '192.0.2.1', 'None']
    """
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def client_of(peer: str, forwarded_for: Sequence[str], networks: Sequence[Network]) -> str:
    """Return the client's address: the peer, or the last hop before the trusted proxies.

    >>> from ipaddress import ip_network
    >>> client_of("10.0.0.1", ["1.1.1.1, 192.0.2.7, 10.0.0.2"], [ip_network("10.0.0.0/8")])
    '192.0.2.7'
    >>> client_of("192.0.2.9", ["1.1.1.1"], [ip_network("10.0.0.0/8")])
    '192.0.2.9'
    """
    address = parse_address(peer)
    if address is None:
        return peer
    client = address
    hops = [hop for line in forwarded_for for hop in line.split(",")][-_MOST_HOPS:]
    while hops and _is_in(client, networks):
        before = parse_address(hops.pop())
        if before is None:  # no proxy writes that: what lies before it is the client's own text
            break
        client = before
    return str(client)


class TrustedProxies:
    """Plain ASGI, outermost: everything behind it sees the client's address and scheme."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network]) -> None:
        self._app, self._networks = app, networks
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope.get("client"):
            self._see_through(scope)
        await self._app(scope, receive, send)

    def _see_through(self, scope: Scope) -> None:
        peer, port = scope["client"]
        if not self._networks and self._warned:
            return
        headers = Headers(scope=scope)
        forwarded_for = headers.getlist("x-forwarded-for")
        address = parse_address(peer) if self._networks else None
        if address is None or not _is_in(address, self._networks):
            if forwarded_for and not self._warned:
                self._warned = True
                log.warning("forwarded_for_ignored", peer=peer, hint="WALLWATCH_TRUSTED_PROXIES names the proxies that may send it")
            return
        client = client_of(peer, forwarded_for, self._networks)
        scope["client"] = (client, port if client == str(address) else 0)
        protocols = [protocol.strip().lower() for line in headers.getlist("x-forwarded-proto") for protocol in line.split(",")]
        if protocols and (scheme := _SCHEMES.get((scope["type"], protocols[-1]))) is not None:
            scope["scheme"] = scheme
