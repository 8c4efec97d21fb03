"""The real collector asks a node_exporter, with the example of docs/examples/inputs, and the jobs take what it sends.

The node_exporter answers what the real one said of a simulated host (collectors/plugins/inputs/node_exporter/testdata/capture.sh).
"""

import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wallwatch.domain.telemetry.decode import Message, decode_message
from wallwatch.domain.telemetry.registry import measurements
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_testing.collector import FILE_OUTPUT

EXAMPLE = REPOSITORY / "docs" / "examples" / "inputs" / "node-exporter.conf"
PLUGIN = REPOSITORY / "collectors" / "plugins" / "inputs" / "node_exporter"
ADDRESS = "http://host01.example:9100/metrics"
KAFKA = "[[outputs.kafka]]"
BUFFER = "/var/lib/wallwatch-telegraf"
ON_DISK = 'buffer_strategy = "disk"'


@pytest.fixture(scope="module")
def node_exporter() -> Iterator[str]:
    answer = (PLUGIN / "testdata" / "answer.txt").read_bytes()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
    server.shutdown()
    server.server_close()
    thread.join()


def run(folder: Path, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    text = EXAMPLE.read_text()
    for part in (ADDRESS, KAFKA, ON_DISK):
        assert part in text
    # Telegraf's disk buffer is for programs that stay.
    text = text.replace(ADDRESS, address).replace(ON_DISK, 'buffer_strategy = "memory"')
    file = folder / "telegraf.conf"
    file.write_text(text[: text.index(KAFKA)] + FILE_OUTPUT.format(path=folder / "out.json"))
    command = [str(binary("wallwatch-telegraf")), "--config", str(file), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def taken(node_exporter: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Message]:
    """What the jobs decode of it, by PCI address."""
    folder = tmp_path_factory.mktemp("central")
    done = run(folder, node_exporter, "--once")
    assert done.returncode == 0, done.stderr
    lines = (folder / "out.json").read_bytes().splitlines()
    decoded = [decode_message(line, time.time_ns() + 60_000_000_000) for line in lines]
    return {message.tags["pci"]: message for message in decoded}


def test_each_rnic_of_the_host_is_one_whole_message(taken: dict[str, Message]) -> None:
    assert set(taken) == {"0000:17:00.0", "0000:3b:00.0"}
    message = taken["0000:17:00.0"]
    assert (message.tags["host"], message.tags["rack"], message.tags["netdev"]) == ("host01", "r1", "enp23s0f0np0")
    assert message.fields["port_state"] == "ACTIVE"
    assert message.fields["rate_gbps"] == 200


def test_what_the_host_cannot_show_is_absent(taken: dict[str, Message]) -> None:
    known = measurements()["rnic"].fields
    for message in taken.values():
        assert set(message.fields) <= set(known)
        assert {name for name in message.fields if not known[name].node_exporter} == set(), "nothing is made up"
        assert not {"out_of_sequence", "np_cnp_sent", "vfs", "tx_gbps"} & set(message.fields)


def test_the_collector_accepts_the_example_as_it_is(tmp_path: Path) -> None:
    copy = tmp_path / "telegraf.conf"
    copy.write_text(EXAMPLE.read_text().replace(BUFFER, str(tmp_path / "buffer")))
    command = [str(binary("wallwatch-telegraf")), "--config", str(copy), "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
