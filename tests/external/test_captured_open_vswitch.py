"""The collector on command outputs that were captured on a production-like host: kernel datapath, nothing offloaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wallwatch_testing import unixctl
from wallwatch_testing.collector import Message, gather_once

INPUTS = '[[inputs.ovs_offload]]\n  unixctl = "v.ctl"\n  ovsdb = ""\n  sysfs_root = "sys"\n'


@pytest.fixture
def replies(external_data: Path) -> dict[str, str]:
    captured = external_data / "captures" / "ovs"
    show = (captured / "ovs-appctl_dpctl.show_-s_system_ovs-system").read_text()
    return {
        "dpctl/show": show,
        "dpctl/show -s": show,
        "upcall/show": (captured / "ovs-appctl_upcall.show").read_text(),
        "coverage/show": (captured / "ovs-appctl_coverage.show").read_text(),
        # Not captured: its flows are gone. An empty dump is what a switch without flows answers.
        "dpctl/dump-flows -m --names": "",
    }


@contextmanager
def switch(folder: Path, replies: dict[str, str]) -> Iterator[None]:
    (folder / "sys" / "class" / "net").mkdir(parents=True)
    with unixctl.serve(folder / "v.ctl", replies):
        yield


def datapath(messages: list[Message]) -> Message:
    return next(message for message in messages if message.name == "ovs_datapath")


def test_the_datapath_has_the_captured_values(short_tmp: Path, replies: dict[str, str]) -> None:
    with switch(short_tmp, replies):
        sample = datapath(gather_once(short_tmp, "node1", INPUTS))
    assert sample.tags == {"host": "node1", "rack": "r1", "datapath": "system@ovs-system"}
    golden = {
        "lookups_hit": 36830,
        "lookups_missed": 4948,
        "lookups_lost": 0,
        "flows": 7,
        "flow_limit": 23000,
        "masks": 7,
        "masks_hit_per_packet": 2.42,
        "dump_duration_ms": 1,
        # The line `offloaded flows` is left out by Open vSwitch when there are none.
        "offloaded_flows": 0,
        "flows_unparsed": 0,
    }
    assert {name: sample.fields.get(name) for name in golden} == golden


def test_what_a_switch_does_not_say_is_absent_and_not_zero(short_tmp: Path, replies: dict[str, str]) -> None:
    replies["dpctl/show"] = replies["dpctl/show -s"] = "system@ovs-system:\n  lookups: hit:? missed:4948 lost:0\n  flows: 7\n"
    replies["upcall/show"] = "system@ovs-system:\n  flows         : (current 7) (avg 6) (max 24) (limit 23000)\n"
    with switch(short_tmp, replies):
        sample = datapath(gather_once(short_tmp, "node1", INPUTS))
    assert sample.fields["lookups_missed"] == 4948
    for unknown in ("lookups_hit", "masks", "masks_hit_per_packet", "dump_duration_ms", "max_idle_ms"):
        assert unknown not in sample.fields


def test_a_switch_that_refuses_the_dump_yields_no_made_up_sample(short_tmp: Path, replies: dict[str, str]) -> None:
    del replies["dpctl/dump-flows -m --names"]
    with switch(short_tmp, replies):
        found = gather_once(short_tmp, "node1", INPUTS)
    assert not [message for message in found if message.name in ("ovs_datapath", "rnic_offload")]
    assert [message.tags["kind"] for message in found if message.name == "event"] == ["ovs_unreachable"]
