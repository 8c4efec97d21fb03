"""The real collector asks the programs that hosts have already, with the examples of docs/examples/inputs, and the jobs take what it sends.

A node_exporter answers what the real one said of a simulated host (collectors/plugins/inputs/node_exporter/testdata/capture.sh), a DTS with
the names that NVIDIA documents (collectors/plugins/inputs/dts/testdata/answer.txt).
"""

import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wallwatch.domain.telemetry.decode import Message, decode_message
from wallwatch.domain.telemetry.registry import measurements
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_testing.collector import FILE_OUTPUT

EXAMPLES = REPOSITORY / "docs" / "examples" / "inputs"
PLUGINS = REPOSITORY / "collectors" / "plugins" / "inputs"
KAFKA = "[[outputs.kafka]]"
BUFFER = "/var/lib/wallwatch-telegraf"


@dataclass(frozen=True)
class Source:
    """A program of hosts, its example, and what the example makes of its answer."""

    plugin: str
    example: str
    address: str
    first: str
    second: str
    netdev: str
    absent: frozenset[str]

    @property
    def text(self) -> str:
        return (EXAMPLES / self.example).read_text()


NODE_EXPORTER = Source(
    "node_exporter",
    "node-exporter.conf",
    "http://host01.example:9100/metrics",
    "0000:17:00.0",
    "0000:3b:00.0",
    "enp23s0f0np0",
    frozenset({"out_of_sequence", "np_cnp_sent", "vfs", "tx_gbps"}),
)
DTS = Source(
    "dts",
    "dts.conf",
    "http://dpu01.example:9100/metrics",
    "0000:03:00.0",
    "0000:03:00.1",
    "p0",
    frozenset({"rate_gbps", "sriov_numvfs", "vfs", "tx_gbps"}),
)


@pytest.fixture(scope="module", params=[NODE_EXPORTER, DTS], ids=lambda source: source.plugin)
def source(request: pytest.FixtureRequest) -> Source:
    found = request.param
    assert isinstance(found, Source)
    return found


@pytest.fixture(scope="module")
def address(source: Source) -> Iterator[str]:
    """Where the program of a host answers."""
    written = (PLUGINS / source.plugin / "testdata" / "answer.txt").read_bytes().replace(b"enp23s0f0np0", source.netdev.encode())
    answer = written.replace(b" 1795770000000", b" %d" % (time.time() * 1000))  # a DTS writes when it has read a value

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


def run(folder: Path, source: Source, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    text = source.text
    for part in (source.address, KAFKA):
        assert part in text
    text = text.replace(source.address, address)
    file = folder / "telegraf.conf"
    file.write_text(text[: text.index(KAFKA)] + FILE_OUTPUT.format(path=folder / "out.json"))
    command = [str(binary("wallwatch-telegraf")), "--config", str(file), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def taken(source: Source, address: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Message]:
    """What the jobs decode of it, by PCI address."""
    folder = tmp_path_factory.mktemp("central")
    done = run(folder, source, address, "--once")
    assert done.returncode == 0, done.stderr
    lines = (folder / "out.json").read_bytes().splitlines()
    decoded = [decode_message(line, time.time_ns() + 60_000_000_000) for line in lines]
    return {message.tags["pci"]: message for message in decoded}


def test_each_rnic_of_the_host_is_one_whole_message(source: Source, taken: dict[str, Message]) -> None:
    assert set(taken) == {source.first, source.second}
    message = taken[source.first]
    assert (message.tags["host"], message.tags["rack"]) == ("host01", "r1")
    assert message.fields["port_state"] == "ACTIVE"
    assert message.fields["port_xmit_data"] == 227941048


def test_the_uplink_of_a_known_name_is_the_rnics(source: Source, taken: dict[str, Message]) -> None:
    found = taken[source.first]
    assert found.tags["netdev"] == source.netdev
    assert found.fields["rx_bytes"] == 843783952


def test_what_the_host_cannot_show_is_absent(source: Source, taken: dict[str, Message]) -> None:
    known = measurements()["rnic"].fields
    for message in taken.values():
        assert set(message.fields) <= set(known)
        assert not source.absent & set(message.fields)
        if source is NODE_EXPORTER:
            assert {name for name in message.fields if not known[name].node_exporter} == set(), "nothing is made up"


def test_the_collector_accepts_the_example_as_it_is(source: Source, tmp_path: Path) -> None:
    copy = tmp_path / "telegraf.conf"
    copy.write_text(source.text.replace(BUFFER, str(tmp_path / "buffer")))
    command = [str(binary("wallwatch-telegraf")), "--config", str(copy), "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
