"""Policies on a simulated host: the real collector runs the compiled tables, and only violations of flows leave the host."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.tables import tables
from wallwatch_testing.collector import FILE_OUTPUT, Message, collecting, messages
from wallwatch_testing.simulator import simulating

pytestmark = pytest.mark.integration

RNIC = "0000:17:00.0"
PLUGINS = """
[[inputs.kernel_events]]
  kmsg = "kmsg"
  pstore = "pstore"
  pstore_archive = ""
  boot_id = "proc/sys/kernel/random/boot_id"
  sysfs_root = "sys"
  state_file = "kernel_events.json"
[[inputs.ovs_offload]]
  unixctl = "ovs/vswitchd.ctl"
  ovsdb = "ovs/db.sock"
  sysfs_root = "sys"
  flow_event_limit = 20000
[[processors.ltl]]
  policies = "policies.json"
  settle = "0s"
  patience = "2s"
  state_interval = "2s"
"""


@contextmanager
def watched(scenario: str, folder: Path, speed: float, edge: Iterable[Policy]) -> Iterator[Path]:
    """The file of what leaves host01, where these policies are checked."""
    with simulating(folder, scenario, speed) as hosts:
        host = hosts[0]
        (host / "policies.json").write_bytes(tables(edge))
        output = host / "violations.json"
        with collecting(host, host.name, PLUGINS, FILE_OUTPUT.format(path=output)):
            yield output


def impatient(edge: Iterable[Policy]) -> Iterator[Policy]:
    """The same policies with timers of 3 s: the collector's clock is real, and its tests hold it to the catalogue's minutes."""
    for policy in edge:
        timer = policy.timer and policy.timer.model_copy(update={"seconds": 3})
        yield policy.model_copy(update={"timer": timer})


def violations(output: Path, *wanted: str, pci: str | None = None) -> dict[str, list[Message]]:
    """By policy, of one RNIC or of all, once all that are wanted are there."""
    deadline = time.monotonic() + 240
    while True:
        found: dict[str, list[Message]] = {}
        for one in messages(output):
            if one.tags.get("kind") == "policy_violated" and pci in (None, one.tags.get("pci")):
                found.setdefault(one.fields["policy"], []).append(one)
        if set(wanted) <= set(found):
            return found
        assert time.monotonic() < deadline, f"only {sorted(found)}"
        time.sleep(0.5)


def test_entries_deleted_while_their_flows_are_in_use_are_reported_with_their_trace(tmp_path: Path) -> None:
    with watched("s1", tmp_path, speed=4, edge=policies().values()) as output:
        one = violations(output, "flow-kept-while-used", pci=RNIC)["flow-kept-while-used"][0]
        assert (one.tags["host"], one.tags["rack"]) == ("host01", "r1")
        assert one.fields["subject"].startswith(f"{RNIC} ")
        steps = json.loads(one.fields["steps"])
        assert "flow_returned" in steps[-1]["kinds"]
        assert steps[-1]["propositions"] == ["FL_RETURNED"]
        assert one.fields["trace"].endswith("flow_returned")
        assert len(one.fields["revision"]) == 12
        kinds = {message.tags.get("kind", "") for message in messages(output)}
        assert not {kind for kind in kinds if kind.startswith("flow_")}, "single flows stay on the host"
        deadline, about = time.monotonic() + 240, ("flow-kept-while-used", RNIC)
        while True:
            states = [m for m in messages(output) if m.name == "policy_state" and (m.tags["policy"], m.tags.get("pci")) == about]
            if any(m.fields["violations"] > 0 and m.fields["subjects"] > 1000 for m in states):
                break
            assert time.monotonic() < deadline, [m.fields for m in states]
            time.sleep(0.5)


def test_a_hanging_kernel_violates_the_policies_that_indicate_it(tmp_path: Path) -> None:
    with watched("s2", tmp_path, speed=4, edge=impatient(policies().values())) as output:
        found = violations(output, "host-cpus-run", "command-answered")
        assert "vf-one-container" not in found
        assert found["command-answered"][0].fields["trace"].endswith("timer")
