"""Files and sockets of a host of the second world."""

import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.raw_hosts.control_socket import ControlSocket
from tests.raw_hosts.host import EPOCH_NS, Host
from tests.raw_hosts.models import ALL, CX6, E810, Model
from tests.raw_hosts.traffic import busy


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="raw-test-") as folder:
        yield Path(folder)


def ask(path: Path, command: str, *arguments: str) -> dict[str, object] | None:
    """One command; None when the connection breaks before the answer ends."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(json.dumps({"method": command, "params": list(arguments), "id": 1}).encode())
        text = b""
        while received := client.recv(1 << 20):
            text += received
            try:
                return dict(json.loads(text))
            except json.JSONDecodeError:
                continue
    return None


def test_commands_that_the_daemon_does_not_know_are_refused(root: Path) -> None:
    server = ControlSocket(root / "ctl", lambda command, _: b"yes\\n" if command == "known" else None)
    assert ask(root / "ctl", "known") == {"error": None, "id": 1, "result": "yes\n"}
    refused = ask(root / "ctl", "other")
    assert refused is not None
    assert '"other" is not a valid command' in str(refused["error"])
    server.close()
    assert not (root / "ctl").exists()


def test_a_dump_can_break_off(root: Path) -> None:
    server = ControlSocket(root / "ctl", lambda *_: b"x" * 10_000)
    server.cut_dump_after = 0.5
    assert ask(root / "ctl", "dpctl/dump-flows") is None
    server.cut_dump_after = None
    assert ask(root / "ctl", "dpctl/dump-flows") is not None
    server.close()


def test_a_new_daemon_has_another_socket_and_no_flows(root: Path) -> None:
    host = Host(root, seed=1)
    host.flows(host.add_card(), 50, busy())
    host.switch.start()
    host.advance(5.0)
    before = next((root / "ovs").glob("*.ctl"))
    dump = ask(before, "dpctl/dump-flows", "-m", "--names")
    assert dump is not None
    assert str(dump["result"]).count("\n") == 50
    host.switch.restart()
    after = next((root / "ovs").glob("*.ctl"))
    assert after != before
    assert ask(after, "dpctl/dump-flows", "-m", "--names") == {"error": None, "id": 1, "result": ""}
    host.switch.stop()


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_links_of_a_card_lead_somewhere(root: Path, model: Model) -> None:
    host = Host(root, seed=1)
    card = host.add_card(model, vfs=3)
    device = root / "sys/bus/pci/devices" / card.pci
    assert (device / "vendor").read_text().strip() == model.vendor
    assert (root / "sys/class/net" / card.netdev / "device").resolve() == device.resolve()
    assert (root / "sys/class/infiniband" / card.ibdev / "device").resolve() == device.resolve()
    assert (device / "virtfn2").resolve() == (root / "sys/bus/pci/devices" / card.vf_pci(2)).resolve()
    assert (device / "virtfn2/physfn").resolve() == device.resolve()
    assert device.resolve().parent.name == card.upstream


def test_functions_and_cards_vanish_and_return(root: Path) -> None:
    host = Host(root, seed=1)
    card = host.add_card(CX6, vfs=3)
    card.set_vfs(0)
    assert list(card.device.glob("virtfn*")) == []
    assert not (root / "sys/class/net" / card.representor(1)).exists()
    card.vanish()
    host.write()
    assert list((root / "sys/bus/pci/devices").iterdir()) == []
    assert list((root / "sys/class/net").iterdir()) == []
    card.return_(2)
    assert (card.port / "counters/port_xmit_data").read_text() == "0\n"
    assert len(list(card.device.glob("virtfn*"))) == 2


def test_ports_count_what_the_flows_send(root: Path) -> None:
    host = Host(root, seed=1)
    card = host.add_card(E810)
    host.flows(card, 10, busy(100.0, 1000), egress_share=1.0)
    before = card.counters.get("port_xmit_packets", 0.0)
    host.advance(-30.0)
    assert card.counters["port_xmit_packets"] - before == pytest.approx(10 * 100 * 10, rel=0.02)


def test_records_of_the_kernel_have_the_time_of_the_case(root: Path) -> None:
    host = Host(root, seed=1)
    host.kernel.say(30.0, "first", "second")
    lines = (root / "kmsg").read_text().splitlines()
    assert [line.split(";")[1] for line in lines[-2:]] == ["first", "second"]
    assert int(lines[-2].split(",")[2]) == 3_630_000_000
    assert (root / "kmsg").stat().st_mtime_ns == EPOCH_NS + 30_000_000_000


def test_a_crash_is_kept_and_a_boot_begins_another_log(root: Path) -> None:
    host = Host(root, seed=1)
    before = (root / "boot_id").read_text()
    host.kernel.crash(10.0, ["BUG: something", "Kernel panic - not syncing: Fatal exception"])
    host.kernel.boot(80.0)
    (dump,) = (root / "pstore").iterdir()
    assert dump.read_text().startswith("Panic#1 Part1\n")
    assert "BUG: something" in dump.read_text()
    assert "BUG: something" not in (root / "kmsg").read_text()
    assert (root / "boot_id").read_text() != before


def test_what_is_scheduled_happens_in_order(root: Path) -> None:
    host = Host(root, seed=1, from_s=0.0)
    seen: list[tuple[str, float]] = []
    host.at(5.0, lambda: seen.append(("late", host.now)))
    host.at(2.0, lambda: seen.append(("early", host.now)))
    host.every(1.0, 3.0, 4.5, lambda: seen.append(("again", host.now)))
    host.advance(10.0)
    assert seen == [("early", 2.0), ("again", 3.0), ("again", 4.0), ("late", 5.0)]
