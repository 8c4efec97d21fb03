"""HTTP servers of tests: on a free loopback port, in a thread of their own."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Logs nothing: a test reads what the handler notes."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class LocalHttp:
    """Serves from its creation until `stop`, over TLS if a context is given."""

    def __init__(self, handler: type[QuietHandler], tls: ssl.SSLContext | None = None) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_port
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)
