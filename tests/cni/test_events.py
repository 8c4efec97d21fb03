"""What real CNI chains report to the collector, and that reporting delays no pod."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import PHYSICAL, VIRTUAL, VXLAN_NETWORK, Chain

pytestmark = pytest.mark.integration


def test_a_pods_lifecycle_is_reported_with_its_vf_address_and_network(chain: Chain) -> None:
    added = chain.call("add")
    assert added.code == 0, added.complaint
    assert chain.call("check").code == 0
    assert chain.call("del").code == 0

    events = chain.events()
    assert [event["command"] for event in events] == ["ADD", "CHECK", "DEL"]
    [address] = [ip["address"] for ip in added.result["ips"]]
    for event in events:
        assert event["result"] == "ok"
        assert (event["device"], event["rnic"]) == (VIRTUAL, PHYSICAL)
        assert event["addresses"] == [address], "the runtime hands the result of ADD to CHECK and DEL too"
        assert event["vxlan_network"] == VXLAN_NETWORK
        assert event["container"] == events[0]["container"]
        assert event["interface"] == "eth0"
        assert event["duration_ns"] > 0


def test_a_refusal_is_reported_and_the_runtimes_del_after_it(chain: Chain) -> None:
    chain.cordon("link flaps")
    assert chain.call("add").code != 0
    assert chain.call("del").code == 0
    reported = [(event["command"], event["result"]) for event in chain.events()]
    assert reported[0] == ("ADD", "refused")
    assert reported[-1] == ("DEL", "ok"), "a cordon does not affect a container that leaves"


def test_del_is_repeated_as_containerd_does_it_also_without_the_namespace(chain: Chain) -> None:
    assert chain.call("add").code == 0
    chain.end_pod()
    for _ in range(3):
        deleted = chain.call("del")
        assert deleted.code == 0, deleted.complaint
    assert chain.leases() == []
    assert [event["command"] for event in chain.events()] == ["ADD", "DEL", "DEL", "DEL"]


def test_without_a_collector_pods_come_and_go_and_nothing_is_written(chain: Chain) -> None:
    chain.event_folder.rmdir()
    for command in ("add", "check", "del"):
        done = chain.call(command)
        assert done.code == 0, done.complaint
        assert "wallwatch-cni:" not in done.complaint
    assert not chain.event_folder.exists()


@pytest.fixture
def deaf_socket() -> Iterator[Path]:
    """A socket that takes connections and never answers."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as deaf:
        path = Path(folder) / "s"
        deaf.bind(str(path))
        deaf.listen()
        yield path


def test_a_collector_that_hangs_holds_no_pod_up(chain: Chain, deaf_socket: Path) -> None:
    chain.event_folder.rmdir()
    chain.event_folder.symlink_to(deaf_socket)
    for command in ("add", "check", "del"):
        assert chain.call(command).code == 0


@pytest.mark.parametrize("place", ["event_folder", "cordon_file"])
def test_a_file_that_hangs_holds_no_pod_up(chain: Chain, place: str) -> None:
    """Opening a pipe waits until somebody writes to it; the runtime would wait for ever."""
    path: Path = getattr(chain, place)
    if path.exists():
        path.rmdir()
    os.mkfifo(path)
    for command in ("add", "check", "del"):
        done = chain.call(command)
        assert done.code == 0, done.complaint
    path.unlink()


def test_the_input_as_an_external_plugin_reports_what_the_chain_did(chain: Chain, external_input: Path) -> None:
    assert chain.call("add").code == 0
    assert chain.call("del").code == 0
    assert chain.call("del").code == 0
    configuration = chain.folder / "input.conf"
    configuration.write_text(f'[[inputs.cni_events]]\n  event_dir = "{chain.event_folder}"\n  sysfs_root = "{chain.folder / "sys"}"\n')
    with subprocess.Popen(
        [str(external_input), "-config", str(configuration)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        # Telegraf asks by a line; the input answers with a line an event.
        running.stdin.write("\n")
        running.stdin.flush()
        lines = [running.stdout.readline() for _ in range(3)]
        running.stdin.close()
    kinds = [line.split(" ")[0] for line in lines]
    assert [f"pci={PHYSICAL}" in kind for kind in kinds] == [True] * 3
    assert [kind.split("kind=")[1].split(",")[0] for kind in kinds] == ["cni_add", "cni_del", "cni_del"]
    assert ["repeated=true" in line for line in lines] == [False, False, True]
    assert f"vxlan_network={VXLAN_NETWORK}i" in lines[0]
    assert f'device="{VIRTUAL}"' in lines[0]
    assert list(chain.event_folder.iterdir()) == [], "what was reported is taken away"
