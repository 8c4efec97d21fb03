"""A mask plan's operations on a real ovs-vswitchd: they are taken, and lead to the flows that were proven.

Its userspace datapath acts as the RNIC with one exception: it rejects flows that overlap with existing ones, which TC accepts. So exact
entries are refused here, and the test shows that a plan stays right when they are.
"""

import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.masks.dump import Dump, read_dump
from wallwatch.domain.masks.grammar import MatchParser
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.text import match_text
from wallwatch.domain.planning.compare import compare
from wallwatch.domain.planning.plan import make_plan
from wallwatch_testing import ovs
from wallwatch_testing.stack import wait_for

pytestmark = pytest.mark.integration

NETWORKS = ("10.1.0.0/16", "10.2.0.0/17", "10.3.3.0/24", "10.4.4.4/32")
SENDERS = ("10.1.7.7", "10.2.7.7", "10.3.3.7", "10.4.4.4")


@pytest.fixture
def switch() -> Iterator[ovs.OpenVSwitch]:
    assert not ovs.missing(), f"Open vSwitch is not installed ({', '.join(ovs.missing())}): run 'make setup'"
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp") as folder, ovs.start(Path(folder)) as started:
        # What nothing uses stays, so that only the plan changes flows.
        started.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=3600000")
        started.add_dummy_bridge("br0", ("p1", "p2"))
        wait_for("the bridge", (started.folder / "br0.mgmt").exists, timeout_s=30)
        for network in NETWORKS:
            started.add_flow("br0", f"in_port=p1,ip,nw_src={network},actions=output:p2")
        # The revalidation that the new rules ask for would remove flows which a test writes and no rule gives.
        started.appctl("revalidator/wait")
        yield started


def dump(switch: ovs.OpenVSwitch, space: HeaderSpace) -> Dump:
    found = read_dump(switch.appctl("dpctl/dump-flows", "-m", "--no-names"), space)
    assert not found.bad
    return found


def packets_of(switch: ovs.OpenVSwitch, source: str, space: HeaderSpace) -> list[int]:
    """Packets of the flows that look at exactly this source address."""
    found = dump(switch, space)
    return [flow.packets for flow in found.flows if space.header(flow.value, flow.mask).get("ipv4.src") == source]


def test_the_steps_lead_to_the_flows_that_were_proven(switch: ovs.OpenVSwitch) -> None:
    for count, sender in enumerate(SENDERS, start=1):
        for _ in range(count * count * count):
            switch.receive("p1", sender, "192.0.2.1")
    space = HeaderSpace()
    wait_for("four flows", lambda: len(dump(switch, HeaderSpace()).flows) == len(SENDERS), timeout_s=30)
    wait_for("counters", lambda: packets_of(switch, "10.4.4.4", HeaderSpace()) == [63], timeout_s=30)  # the first one made the flow
    # A flow that is expected: one packet of the widest rule.
    port = next(iter({space.header(flow.value, flow.mask)["in_port"] for flow in dump(switch, space).flows}))
    header = MatchParser(space).parse(f"recirc_id(0),in_port({port}),packet_type(ns=0,id=0),eth_type(0x0800),ipv4(src=10.1.8.8,frag=no)")
    read = dump(switch, space)
    before = replace(read, flows=tuple(sorted(read.flows, key=lambda flow: flow.packets)))  # as if the busiest had come last

    plan = make_plan(before, profiles()["CX-6"], expected_headers=[header])
    assert plan.proven
    assert [step.phase for step in plan.steps].count("activate") == 1
    assert {step.phase for step in plan.steps} == {"activate", "move"}
    for step in plan.steps:
        if step.phase == "activate":
            with pytest.raises(AssertionError, match="File exists"):
                switch.appctl(*shlex.split(step.command(space)))
        else:
            switch.appctl(*shlex.split(step.command(space)))

    after = dump(switch, space)
    entries = {step.flow.value for step in plan.steps if step.phase == "activate"}
    planned = {(one.value, one.mask, one.actions) for one in plan.after if one.value not in entries}
    assert {(flow.value, flow.mask, flow.actions) for flow in after.flows} == planned
    assert compare(before, after).proof.verdict == "equivalent"


def test_a_match_that_was_written_is_read_back_as_the_same_bits(switch: ovs.OpenVSwitch) -> None:
    outer = "tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,tp_dst=4789,vxlan(gbp(id=5,flags=1)),flags(-df+key))"
    first = "recirc_id(0),in_port(1),eth(src=02:00:00:00:00:01,dst=01:00:00:00:00:00/01:00:00:00:00:00),eth_type(0x0800)"
    texts = [
        f"{first},ipv4(proto=17,tos=0/0xfc,frag=no),udp(dst=4791)",
        "ct_state(+est-new+trk),ct_zone(5),recirc_id(0x3),in_port(1),eth(),eth_type(0x86dd),ipv6(dst=fd00::/ffff::,frag=first)",
        f"{outer},recirc_id(0),in_port(2),eth(),eth_type(0x86dd),ipv6(src=fd00::/ffff::,frag=no)",
    ]
    space = HeaderSpace()
    given = [MatchParser(space).parse(text) for text in texts]
    for value, mask in given:
        switch.appctl("dpctl/add-flow", match_text(space, value, mask), "2")
    found = dump(switch, space)
    # What the switch adds by itself is the kind of packet and the parts of a VLAN tag; everything that was given is there.
    read = [(flow.value, flow.mask) for flow in found.flows]
    for value, mask in given:
        assert any(not mask & ~other_mask and not (value ^ other) & mask for other, other_mask in read), space.header(value, mask)
    assert len(read) == len(given)
