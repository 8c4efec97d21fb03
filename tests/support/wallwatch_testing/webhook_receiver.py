"""A webhook receiver on a free loopback port that stores all requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from wallwatch_testing.local_http import LocalHttp, QuietHandler


@dataclass(frozen=True)
class Received:
    """One request: header names in lower case."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """The receiver's address and its requests. `status` is its answer, which may change meanwhile."""

    url: str
    received: list[Received] = field(default_factory=list)
    status: int = 204


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen for the length of the block."""
    receiver = Receiver("")

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            self.end_headers()

    server = LocalHttp(Handler)
    receiver.url = f"{server.url}/hook"
    try:
        yield receiver
    finally:
        server.stop()
