"""A webhook receiver on a free loopback port that stores all requests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: the test reads `received`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
