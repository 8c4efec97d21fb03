"""The topology's walk against brute enumeration of all ways, and completion of partial configurations (paper, Fig. 9)."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.device import Config, Device, all_level_combinations
from wallwatch.domain.lab.topology import Topology

from .planted import choice, device_of, integer, sequence

TABLES = ("T1", "T2", "T3")


@st.composite
def devices(draw: st.DrawFn) -> Device:
    """Three tables chained by three choices, and two entries; some edges depend on two parameters or on none."""
    nodes = ("vf", "pf", *TABLES)
    edges: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 9))):
        when = draw(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from([0, 1, 2]), max_size=2))
        edges.append({"from": draw(st.sampled_from(nodes)), "to": draw(st.sampled_from((*TABLES, "uplink"))), "when": when})
    entries = draw(st.sampled_from([["vf"], ["vf", "pf"]]))
    topology = {"entries": entries, "exits": ["uplink"], "edges": edges}
    return device_of(choice("a", 0, 1, 2), choice("b", 0, 1, 2), choice("c", 0, 1, 2), choice("other", "x", "y"), topology=topology)


def _ways(device: Device, config: Config, node: str, met: tuple[str, ...]) -> Iterator[str]:
    """How each way from a node ends: "exit", "loop" or "nowhere"."""
    assert device.topology is not None
    if node in device.topology.exits:
        yield "exit"
        return
    if node in met:
        yield "loop"
        return
    targets = [
        one.target for one in device.topology.edges if one.source == node and all(config[name] == value for name, value in one.when.items())
    ]
    if not targets:
        yield "nowhere"
    for target in targets:
        yield from _ways(device, config, target, (*met, node))


def _is_valid(device: Device, config: Config) -> bool:
    assert device.topology is not None
    return all(end == "exit" for entry in device.topology.entries for end in _ways(device, config, entry, ()))


@settings(derandomize=True, max_examples=60)
@given(devices())
def test_a_configuration_is_valid_where_every_way_ends_at_an_exit(device: Device) -> None:
    topology = Topology(device)
    for config in all_level_combinations(device):
        assert topology.is_valid(config) == _is_valid(device, config), config


@settings(derandomize=True, max_examples=60)
@given(devices(), st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from([0, 1, 2]), max_size=2), st.integers(0, 9))
def test_a_completion_keeps_what_is_given_and_is_found_where_there_is_one(device: Device, partial: Config, seed: int) -> None:
    topology = Topology(device)
    partial = {name: value for name, value in partial.items() if name in topology.parameters}
    possible = [one for one in all_level_combinations(device) if partial.items() <= one.items() and _is_valid(device, one)]
    completed = topology.complete(partial, random.Random(seed), device.default)
    if completed is None:
        assert not possible
    else:
        assert partial.items() <= completed.items()
        assert _is_valid(device, device.default | completed)


@settings(derandomize=True, max_examples=40)
@given(devices(), st.integers(0, 9))
def test_what_is_preferred_and_valid_stays_as_it_is(device: Device, seed: int) -> None:
    topology = Topology(device)
    for config in all_level_combinations(device):
        if _is_valid(device, config):
            assert topology.complete({}, random.Random(seed), config) == {name: config[name] for name in topology.parameters}


def test_figure_9_knows_the_valid_the_loop_and_the_unreachable() -> None:
    edges = [
        {"from": "vf", "to": "T1"},
        {"from": "T1", "to": "T3", "when": {"t1": "T3"}},
        {"from": "T3", "to": "T1", "when": {"t3": "T1"}},
        {"from": "T3", "to": "uplink", "when": {"t3": "uplink"}},
        {"from": "T1", "to": "uplink", "when": {"t1": "uplink"}},
    ]
    topology = {"entries": ["vf"], "exits": ["uplink"], "edges": edges}
    device = device_of(choice("t1", "uplink", "T3", "none"), choice("t3", "uplink", "T1"), topology=topology)
    checked = Topology(device)
    assert checked.is_valid({"t1": "T3", "t3": "uplink"})
    assert not checked.is_valid({"t1": "T3", "t3": "T1"})
    assert not checked.is_valid({"t1": "none", "t3": "uplink"})
    assert checked.is_valid({"t1": "uplink", "t3": "T1"}), "a loop that no packet enters is none"


def test_without_a_topology_everything_is_valid() -> None:
    topology = Topology(device_of(choice("a", 1, 2)))
    assert topology.parameters == ()
    assert topology.is_valid({"a": 2})
    assert topology.complete({"a": 2}, random.Random(1)) == {"a": 2}


def test_a_topology_without_conditions_that_reaches_nothing_allows_nothing() -> None:
    device = device_of(choice("a", 1, 2), topology={"entries": ["vf"], "exits": ["uplink"], "edges": [{"from": "vf", "to": "T1"}]})
    assert not Topology(device).is_valid({"a": 1})


@pytest.mark.parametrize("seed", range(5))
def test_an_integer_that_no_walk_meets_is_completed_too(seed: int) -> None:
    edges = [
        {"from": "vf", "to": "uplink", "when": {"a": 1}},
        {"from": "T1", "to": "uplink", "when": {"depth": 3}},
    ]
    device = device_of(choice("a", 1, 2), integer("depth", 1, 100), topology={"entries": ["vf"], "exits": ["uplink"], "edges": edges})
    completed = Topology(device).complete({}, random.Random(seed))
    assert completed is not None
    assert completed["a"] == 1
    assert device.by_name["depth"].contains(completed["depth"])


def test_an_integer_and_an_order_that_only_one_edge_asks_for_are_found() -> None:
    edges = [
        {"from": "vf", "to": "T1", "when": {"depth": 37}},
        {"from": "T1", "to": "uplink", "when": {"order": ["y", "z", "x"]}},
    ]
    topology = {"entries": ["vf"], "exits": ["uplink"], "edges": edges}
    device = device_of(integer("depth", 1, 100), sequence("order", "x", "y", "z"), topology=topology)
    assert Topology(device).complete({}, random.Random(1)) == {"depth": 37, "order": ("y", "z", "x")}
