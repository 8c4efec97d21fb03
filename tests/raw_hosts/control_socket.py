"""The control socket of ovs-vswitchd: JSON-RPC 1.0 on a Unix socket (lib/unixctl.c)."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Answer = Callable[[str, list[str]], bytes | None]
"""The output of a command, already escaped for JSON; None: the daemon does not know it."""
CHUNK = 1 << 18


class ControlSocket:
    """Answers one command after another, as the daemon's main thread does, each connection in a thread of its own."""

    def __init__(self, path: Path, answer: Answer) -> None:
        self.path = path
        self._answer = answer
        self.cut_dump_after: float | None = None
        """Share of the dump's text after which the connection breaks."""
        self.while_dumping: Callable[[float], None] | None = None
        """Called with the share of the dump that was sent."""
        self.dumps = 0
        self.failure: BaseException | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(8)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening and remove the socket's file, as a daemon that ends in order does."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._talk(connection)
        except OSError:
            pass  # the client has gone
        except BaseException as error:
            self.failure = error

    def _talk(self, connection: socket.socket) -> None:
        decoder, pending = json.JSONDecoder(), ""
        while received := connection.recv(65536):
            pending += received.decode()
            while pending:
                try:
                    request, end = decoder.raw_decode(pending)
                except json.JSONDecodeError:
                    break
                pending = pending[end:].lstrip()
                if not self._reply(connection, request):
                    return

    def _reply(self, connection: socket.socket, request: dict[str, object]) -> bool:
        method, params = str(request["method"]), [str(p) for p in request["params"]]  # type: ignore[attr-defined]
        output = self._answer(method, params)
        identity = json.dumps(request["id"]).encode()
        if output is None:
            text = json.dumps(f'"{method}" is not a valid command (use "list-commands" to see a list of valid commands)\n')
            connection.sendall(b'{"error":%b,"id":%b,"result":null}' % (text.encode(), identity))
            return True
        whole = b'{"error":null,"id":%b,"result":"%b"}' % (identity, output)
        if method != "dpctl/dump-flows":
            connection.sendall(whole)
            return True
        self.dumps += 1
        end = len(whole) if self.cut_dump_after is None else int(len(whole) * self.cut_dump_after)
        for begin in range(0, end, CHUNK):
            connection.sendall(whole[begin : min(end, begin + CHUNK)])
            if self.while_dumping is not None:
                self.while_dumping(min(end, begin + CHUNK) / len(whole))
        return end == len(whole)
