"""A relay between a real ovs-vswitchd and a collector that acts as an RNIC which offloads every flow.

The dummy datapath never says that a flow is offloaded. In dumps the relay puts `offloaded:yes, dp:tc` where the daemon says `dp:ovs`;
everything else is the daemon's own. This file is also the program that does it.
"""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

from wallwatch_local.processes import die_with_parent, running


@contextmanager
def taking_every_flow(daemon: Path, own: Path) -> Iterator[None]:
    """Run the relay for the duration of the block, in its own process, because a daemon is identified by its process."""
    own.unlink(missing_ok=True)
    command = die_with_parent([sys.executable, __file__, str(daemon), str(own)], SIGTERM)
    with running("ovs_relay", command, own.with_suffix(".log"), own.exists, SIGTERM):
        yield


def main(daemon: str, own: str) -> None:
    """Serve until the process is ended."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(own)
        listener.listen()
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, daemon), daemon=True).start()


def serve(client: socket.socket, daemon: str) -> None:
    """Answer one client's commands, each over a separate connection to the daemon."""
    with client:
        for request in documents(client):
            with socket.socket(socket.AF_UNIX) as upstream:
                upstream.connect(daemon)
                upstream.sendall(json.dumps(request).encode())
                reply = next(documents(upstream))
            if request["method"] == "dpctl/dump-flows":
                reply["result"] = reply["result"].replace(" dp:ovs, ", " offloaded:yes, dp:tc, ")
            client.sendall(json.dumps(reply).encode())


def documents(stream: socket.socket) -> Iterator[dict[str, Any]]:
    """The JSON documents that arrive, one after another with nothing between them."""
    decoder, received = json.JSONDecoder(), b""
    while chunk := stream.recv(1 << 16):
        received += chunk
        try:
            text = received.decode()
            document, end = decoder.raw_decode(text)
        except ValueError:
            # More has to come.
            continue
        received = text[end:].encode()
        yield document


if __name__ == "__main__":
    main(*sys.argv[1:])
