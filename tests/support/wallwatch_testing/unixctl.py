"""A stand-in for ovs-vswitchd's control socket that answers with recorded text. Anything not recorded is answered as an unknown command."""

import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class _Handler(socketserver.BaseRequestHandler):
    server: "_Server"

    def handle(self) -> None:
        decoder = json.JSONDecoder()
        pending = ""
        while data := self.request.recv(65536):
            pending += data.decode()
            while pending:
                try:
                    message, end = decoder.raw_decode(pending)
                except ValueError:
                    break  # the rest of the message is still to come
                pending = pending[end:].lstrip()
                self.request.sendall(json.dumps(self._answer(message)).encode())

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        command = " ".join([message["method"], *message["params"]])
        text = self.server.replies.get(command)
        if text is None:
            return {"id": message["id"], "result": None, "error": f'"{message["method"]}" is not a valid command'}
        return {"id": message["id"], "result": text, "error": None}


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path: Path, replies: Mapping[str, str]) -> None:
        self.replies = replies
        super().__init__(str(path), _Handler)


@contextmanager
def serve(path: Path, replies: Mapping[str, str]) -> Iterator[None]:
    """Answer `"command arguments"` with its text on a Unix socket for the length of the block. The mapping may change meanwhile."""
    with _Server(path, replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
