"""XML-RPC over a Unix socket, the interface to supervisord."""

import socket
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from xmlrpc.client import ProtocolError, ServerProxy, Transport


class _UnixConnection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.connect(str(self._path))
        except OSError:
            self.close()
            raise


class _UnixTransport(Transport):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: Any) -> HTTPConnection:
        return _UnixConnection(self._path)

    def single_request(self, host: Any, handler: str, request_body: Any, verbose: bool = False) -> Any:
        """One request per connection: no connection stays open between requests."""
        self.verbose = verbose
        connection = self.make_connection(host)
        try:
            connection.request("POST", handler, body=request_body, headers={"Content-Type": "text/xml"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise ProtocolError(handler, answer.status, answer.reason, {})
            return self.parse_response(answer)
        finally:
            connection.close()


def server_proxy(socket_path: Path) -> ServerProxy:
    """A client of the server that listens on the socket."""
    return ServerProxy("http://localhost/RPC2", transport=_UnixTransport(socket_path))
