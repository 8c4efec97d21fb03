"""How both ends of a connection to PostgreSQL notice that the other is gone: without this, TCP may wait for hours.

A process that waits for an answer of a server that restarted behind a broken network has nothing to send, so nothing tells it; and
PostgreSQL keeps the locks of a client whose machine is gone.
"""

IDLE_S, INTERVAL_S, PROBES = 10, 5, 3
UNANSWERED_MS = 30_000

NOTICE_DEAD_SERVER = {
    "keepalives_idle": str(IDLE_S),
    "keepalives_interval": str(INTERVAL_S),
    "keepalives_count": str(PROBES),
    "tcp_user_timeout": str(UNANSWERED_MS),
}
"""Parameters of libpq for a client: probes after 10 s of silence, an error after 25 s of it, or 30 s after what nobody acknowledged."""

NOTICE_DEAD_CLIENT = (
    f"SET tcp_keepalives_idle = {IDLE_S}; SET tcp_keepalives_interval = {INTERVAL_S}; SET tcp_keepalives_count = {PROBES}; "
    f"SET tcp_user_timeout = {UNANSWERED_MS}"
)
"""The same at the server, for a session that holds a lock which others wait for."""


def with_liveness(libpq_url: str) -> str:
    """Add the client's parameters to an address; those that it names itself stay.

    >>> with_liveness("postgresql:///d?keepalives_idle=1&host=/run")[:45]
    'postgresql:///d?keepalives_idle=1&host=/run&k'
    """
    _, _, query = libpq_url.partition("?")
    given = {part.partition("=")[0] for part in query.split("&")}
    added = [f"{name}={value}" for name, value in NOTICE_DEAD_SERVER.items() if name not in given]
    return "".join([libpq_url, "&" if query else "?" if "?" not in libpq_url else "", "&".join(added)]) if added else libpq_url
