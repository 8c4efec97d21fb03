"""The open connections of one port: how many there may be, and which of them take too long."""

import asyncio
import ipaddress
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from prometheus_client import Counter, Gauge

log = structlog.get_logger(__name__)
OPEN = Gauge("wallwatch_http_connections", "Open connections that count against the limits; event streams and agents do not", ["port"])
REFUSED = Counter(
    "wallwatch_http_connections_refused", "Connections refused when they opened, by the limit that was reached", ["port", "limit"]
)
ENDED = Counter("wallwatch_http_connections_ended", "Connections that this server ended because of a limit", ["port", "reason"])

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LOOPBACK: tuple[Network, ...] = (ipaddress.IPv4Network("127.0.0.0/8"), ipaddress.IPv6Network("::1/128"))
"""A process of this machine, often its proxy, stands for many clients."""

_SWEEP_S = 1.0
_LOG_EVERY_S = 60.0


@dataclass(frozen=True)
class Limits:
    """What one port allows its peers."""

    head_bytes: int = 32_768
    """Request line and header fields together."""
    headers: int = 100
    """Header fields per request."""
    head_s: float = 10.0
    """From the opening of the connection, or the first byte of a later request, to the end of its header."""
    body_s: float = 10.0
    """A body may take this long, and longer only at `body_bytes_per_s`."""
    body_bytes_per_s: int = 4_096
    unread_s: float = 30.0
    """How long a peer may read nothing of an answer that waits for it."""
    idle_s: float = 65.0
    """Between two requests of a connection; longer than proxies keep idle connections (60 s), so that they close first."""
    connections: int = 2_000
    per_address: int = 300
    """Connections of one IPv4 address or IPv6 /64 network."""
    exempt: Sequence[Network] = LOOPBACK
    """Networks without a limit per address: proxies."""


class Connection(Protocol):
    """What the ledger asks a connection for."""

    address: str | None
    """The peer's address; None for a socket without one."""

    def idle_since(self) -> float | None:
        """When it began to wait for its next request (the loop's time, seconds); None while it is in use."""

    def overdue(self, now: float) -> str | None:
        """The limit that it has exceeded, a label of `ENDED`; None if it has time left."""

    def end(self, reason: str) -> None:
        """Close it. Its `connection_lost` calls `Connections.leave` later."""


def network_of(address: str) -> str:
    """The network that is one client: an IPv4 address, or the /64 that one IPv6 subscriber gets.

    >>> network_of("192.0.2.7"), network_of("2001:db8:0:1:aaaa::7")
    ('192.0.2.7', '2001:db8:0:1::/64')
    """
    parsed = ipaddress.ip_address(address.split("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
    return str(parsed)


class Connections:
    """Counts the connections of one port, and ends those that are overdue."""

    def __init__(self, limits: Limits, port: str) -> None:
        self.limits, self._port = limits, port
        self._counted: dict[Connection, str | None] = {}
        self._apart: set[Connection] = set()
        self._per_network: Tally[str] = Tally()
        self._sweeping = False
        self._logged_at: float | None = None

    def __len__(self) -> int:
        return len(self._counted)

    def enter(self, connection: Connection) -> bool:
        """Count a new connection; False if it has to be refused. Where a limit is reached, an idle connection makes room."""
        network = self._network(connection.address)
        if network is not None and self._per_network[network] >= self.limits.per_address and not self._make_room(network):
            return self._refuse("address", connection.address)
        if len(self._counted) >= self.limits.connections and not self._make_room(None):
            return self._refuse("all", connection.address)
        self._counted[connection] = network
        if network is not None:
            self._per_network[network] += 1
        OPEN.labels(self._port).set(len(self._counted))
        self._start_sweeping()
        return True

    def set_apart(self, connection: Connection) -> None:
        """Stop counting a connection that became an event stream: those have a limit of their own. It still has to be read."""
        if connection in self._counted:
            self._forget(connection)
            self._apart.add(connection)

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has ended, or that another protocol took over."""
        self._apart.discard(connection)
        if connection in self._counted:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        network = self._counted.pop(connection)
        OPEN.labels(self._port).set(len(self._counted))
        if network is not None:
            self._per_network[network] -= 1
            if not self._per_network[network]:
                del self._per_network[network]

    def _network(self, address: str | None) -> str | None:
        if address is None:
            return None
        try:
            parsed = ipaddress.ip_address(address.split("%")[0])
        except ValueError:  # a test's transport, or a socket that is no network's
            return None
        peer = getattr(parsed, "ipv4_mapped", None) or parsed
        return None if any(peer in exempt for exempt in self.limits.exempt) else network_of(address)

    def _make_room(self, network: str | None) -> bool:
        idle = [
            (since, connection)
            for connection, of in self._counted.items()
            if (network is None or of == network) and (since := connection.idle_since()) is not None
        ]
        if not idle:
            return False
        _, longest = min(idle, key=lambda entry: entry[0])
        self._forget(longest)
        self._end(longest, "made_room")
        return True

    def _refuse(self, limit: str, address: str | None) -> bool:
        REFUSED.labels(self._port, limit).inc()
        now = asyncio.get_running_loop().time()
        if self._logged_at is None or now - self._logged_at >= _LOG_EVERY_S:  # a flood must not fill the log
            self._logged_at = now
            log.warning("connections_refused", port=self._port, limit=limit, address=address, open=len(self._counted))
        return False

    def _end(self, connection: Connection, reason: str) -> None:
        ENDED.labels(self._port, reason).inc()
        connection.end(reason)

    def _start_sweeping(self) -> None:
        if not self._sweeping:
            self._sweeping = True
            self._sweep_later()

    def _sweep_later(self) -> None:
        pause_s = min(_SWEEP_S, self.limits.head_s / 4, self.limits.body_s / 4, self.limits.unread_s / 4)
        asyncio.get_running_loop().call_later(pause_s, self._sweep)

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in [*self._counted, *self._apart]:
            reason = connection.overdue(now)
            if reason is not None:
                self.leave(connection)
                self._end(connection, reason)
        self._sweeping = bool(self._counted or self._apart)
        if self._sweeping:
            self._sweep_later()
