"""Flows of real Open vSwitch releases as the collector sees them: installed, deleted, and offloaded again.

A relay acts as the RNIC, see `wallwatch_testing.ovs_relay`.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from wallwatch_testing import collector, ovs
from wallwatch_testing.collector import Message
from wallwatch_testing.ovs_relay import taking_every_flow
from wallwatch_testing.stack import wait_for
from wallwatch_testing.sysfs import write_rnic

pytestmark = pytest.mark.integration

PCI = "0000:3b:00.0"
REPRESENTORS = ("pf0vf0", "pf0vf1")
INPUT = """
[[inputs.ovs_offload]]
  unixctl = "relay.ctl"
  ovsdb = "ovs/db.sock"
  sysfs_root = "sys"
  mask_interval = "500ms"
  flow_event_limit = 100
"""


def releases() -> list[Any]:
    """This system's Open vSwitch, and another release where one is unpacked."""
    other = ovs.other_release()
    absent = pytest.mark.skip(reason="no second release is unpacked (docs/contributing/how-do-i-try-another-open-vswitch.md)")
    return [
        pytest.param(ovs.SYSTEM, id="of this system"),
        pytest.param(other, id="of Debian 13", marks=[] if other else [absent]),
    ]


@dataclass(frozen=True)
class Observed:
    """A real switch and what the collector says of it."""

    switch: ovs.OpenVSwitch
    output: Path
    relay: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        """Rules and relay, which a daemon that has just started lacks."""
        wait_for("the bridge", (self.switch.folder / "br0.mgmt").exists, timeout_s=30)
        # Two lengths of prefixes make two masks.
        for network in ("10.0.0.0/24", "10.1.0.0/16"):
            self.switch.add_flow("br0", f"in_port=pf0vf0,ip,nw_dst={network},actions=output:pf0vf1")
        folder = self.output.parent
        self.relay.enter_context(taking_every_flow(folder / "ovs" / "vswitchd.ctl", folder / "relay.ctl"))

    def restart_daemon(self) -> None:
        """Daemon and relay end together and come back under their names."""
        self.relay.close()
        self.switch.restart_daemon()
        self.begin()

    def all(self, name: str) -> list[Message]:
        return [one for one in collector.messages(self.output) if one.name == name]

    def latest(self, name: str = "rnic_offload") -> dict[str, Any]:
        found = self.all(name)
        return found[-1].fields if found else {}

    def since(self, begin: int, field: str) -> float:
        """The greatest value of a field in the samples of the RNIC after the first `begin` ones."""
        return max((float(one.fields.get(field, 0)) for one in self.all("rnic_offload")[begin:]), default=0.0)

    def ufid_of(self, network: str) -> str:
        """The identity of the flow to a network."""
        for line in self.switch.appctl("dpctl/dump-flows", "-m", "--names").splitlines():
            if network in line and (found := re.match(r"ufid:([0-9a-f-]+)", line)):
                return found.group(1)
        raise AssertionError(f"no flow to {network}")

    def send(self) -> None:
        for destination in ("10.0.0.1", "10.1.0.1"):
            self.switch.receive("pf0vf0", "10.9.0.1", destination)


@pytest.fixture(params=releases(), scope="module")
def observed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    assert not ovs.missing(), f"Open vSwitch is not installed ({', '.join(ovs.missing())}): run 'make setup'"
    folder = tmp_path_factory.mktemp("r")
    write_rnic(folder / "sys", PCI, "mlx5_0", "uplink0", REPRESENTORS)
    with ExitStack() as stack:
        switch = stack.enter_context(ovs.start(folder / "ovs", request.param))
        switch.add_dummy_bridge("br0", REPRESENTORS)
        observed = Observed(switch, folder / "taken.json")
        stack.enter_context(observed.relay)
        observed.begin()
        stack.enter_context(collector.collecting(folder, "ovs", INPUT, collector.FILE_OUTPUT.format(path=observed.output), "500ms"))
        yield observed


def test_flows_are_installed_and_their_masks_counted(observed: Observed) -> None:
    observed.send()
    wait_for("two offloaded flows", lambda: observed.latest().get("flows_offloaded") == 2, timeout_s=30)
    assert observed.latest()["masks_egress"] == 2
    assert observed.latest("ovs_datapath")["flows_unparsed"] == 0
    matches = {str(one.fields["match"]): one.fields["length_bits"] for one in observed.all("rnic_mask")}
    # The release decides in which order a dump has the fields.
    assert {"255.255.255.0" in match for match in matches} == {True, False}
    longer = next(match for match in matches if "255.255.255.0" in match)
    shorter = next(match for match in matches if "255.255.0.0" in match)
    assert matches[longer] - matches[shorter] == 8


def test_the_daemons_counters_follow_its_release(observed: Observed) -> None:
    # The daemon's threads add up what they counted every few seconds.
    wait_for("two flows put", lambda: observed.latest("ovs_datapath").get("dpif_flow_put", 0) >= 2, timeout_s=30)
    fields = observed.latest("ovs_datapath")
    counted = "No such counter" not in _ask(observed.switch, "dpif_flow_del_error")
    assert ("dpif_flow_del_error" in fields) == counted


def _ask(switch: ovs.OpenVSwitch, counter: str) -> str:
    try:
        return switch.appctl("coverage/read-counter", counter)
    except AssertionError as refused:
        return str(refused)


def test_a_flow_that_is_deleted_and_offloaded_again_is_a_reoffload(observed: Observed) -> None:
    begin = len(observed.all("rnic_offload"))
    observed.send()
    # The time of the last packet is known once the counters have moved; how old an entry is that was there before the collector is not.
    wait_for("counted packets of two flows", lambda: observed.since(begin, "packets_per_s") > 0, timeout_s=30)
    begin = len(observed.all("rnic_offload"))
    ufid = observed.ufid_of("dst=10.0.0.1/255.255.255.0")
    # What a wrong deletion does (C1): the entries go although packets still come, and the next ones bring them back. `dpctl/del-flow` would
    # not do: the daemon remembers such a flow and takes the next packet for a duplicate.
    observed.switch.appctl("revalidator/purge")
    wait_for("the deletion", lambda: observed.since(begin, "flow_deletions_per_s") > 0, timeout_s=30)

    def came_back() -> bool:
        observed.send()
        return observed.since(begin, "reoffloads_per_s") > 0

    wait_for("the re-offload", came_back, timeout_s=30)
    assert observed.since(begin, "reoffload_ratio") > 0
    kinds = [one.tags["kind"] for one in observed.all("event") if one.fields.get("flow") == ufid]
    assert kinds[-4:] == ["flow_entry_deleted", "flow_offloaded", "flow_entry_created", "flow_returned"]


def test_an_aged_flow_is_deleted_and_is_no_reoffload(observed: Observed) -> None:
    observed.switch.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=1500")
    wait_for("no flows", lambda: observed.latest().get("flows_offloaded") == 0, timeout_s=60)
    begin = len(observed.all("rnic_offload"))
    kinds = [one.tags["kind"] for one in observed.all("event") if "flow" in one.fields]
    assert kinds[-2:] == ["flow_aged", "flow_entry_deleted"]
    wait_for("two more samples", lambda: len(observed.all("rnic_offload")) >= begin + 2, timeout_s=30)
    assert observed.latest()["flows_overdue"] == 0
    assert "deletion_ms" not in observed.latest()


def test_a_daemon_that_restarts_takes_its_history_along(observed: Observed) -> None:
    observed.switch.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=30000")
    observed.send()
    wait_for("two offloaded flows", lambda: observed.latest().get("flows_offloaded") == 2, timeout_s=30)
    begin = len(observed.all("rnic_offload"))
    observed.restart_daemon()
    wait_for("samples after the restart", lambda: observed.latest().get("flows_offloaded") == 0, timeout_s=30)
    # Its flows are gone, but the RNIC did not lose them one by one.
    assert observed.since(begin, "flow_deletions_per_s") == 0
    observed.send()
    wait_for("the flows again", lambda: observed.latest().get("flows_offloaded") == 2, timeout_s=30)
    assert observed.since(begin, "reoffloads_per_s") == 0
