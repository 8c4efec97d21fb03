"""Random configurations: inside a cause, outside it by one condition, clear of others; always in the domain and valid."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.conditions import Among, Before, Boundary, Cause, Condition, Range, Signal
from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.topology import Topology

from .planted import boolean, choice, device_of, integer, sequence

EDGES = [
    {"from": "vf", "to": "T1", "when": {"mode": "a"}},
    {"from": "vf", "to": "uplink", "when": {"mode": "b"}},
    {"from": "vf", "to": "T1", "when": {"mode": "c"}},
    {"from": "T1", "to": "uplink", "when": {"offload": True}},
]
DEVICE = device_of(
    integer("masks", 1, 256),
    integer("qps", 1, 1025, step=4, scale="log"),
    integer("vfs", 0, 16),
    boolean("offload"),
    choice("mode", "b", "a", "c"),
    sequence("order", "x", "y", "z"),
    topology={"entries": ["vf"], "exits": ["uplink"], "edges": EDGES},
)
TOPOLOGY = Topology(DEVICE)
CONDITIONS: list[Condition] = [
    Range("masks", 32, None),
    Range("qps", None, 101),
    Range("vfs", 3, 9),
    Among("mode", frozenset({"a"}), ("b", "a", "c")),
    Among("offload", frozenset({True}), (False, True)),
    Before("order", "z", "x"),
]
BOUNDARY = Boundary((("masks", 1.0), ("vfs", 1.0)), False, ">=", 600)
several_conditions = st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=4, unique=True)


def sampler(seed: int, only: tuple[str, ...] = ()) -> Sampler:
    return Sampler(DEVICE, TOPOLOGY, random.Random(seed), only)


def is_sendable(config: Config) -> bool:
    return all(one.contains(config[one.name]) for one in DEVICE.parameters) and TOPOLOGY.is_valid(config)


@settings(derandomize=True, max_examples=150)
@given(several_conditions, st.booleans(), st.integers(0, 999))
def test_inside_all_conditions_hold_and_outside_one_is_broken(conditions: list[Condition], corner: bool, seed: int) -> None:
    drawn = sampler(seed)
    inside = drawn.inside(conditions, [], corner)
    if inside is None:  # the topology may not allow these together
        assert any(isinstance(one, Among) for one in conditions)
        return
    assert is_sendable(inside)
    assert all(one.holds(inside) for one in conditions)
    for one in conditions:
        outside = drawn.broken(inside, one, near=corner, kept=[])
        if outside is not None:
            assert is_sendable(outside)
            assert not one.holds(outside)


@pytest.mark.parametrize("condition", [*CONDITIONS[:3], BOUNDARY])
def test_near_means_one_step_from_the_condition(condition: Condition) -> None:
    drawn = sampler(1)
    for _ in range(50):
        inside = drawn.inside([condition], [], corner=True)
        assert inside is not None
        outside = drawn.broken(inside, condition, near=True, kept=[])
        assert outside is not None
        (name,) = [one for one in condition.parameters if inside[one] != outside[one]]
        parameter = DEVICE.by_name[name]
        back = 1 if as_integer(outside[name]) < as_integer(inside[name]) else -1
        assert condition.holds({**outside, name: as_integer(outside[name]) + back * parameter.step})


@settings(derandomize=True, max_examples=100)
@given(st.integers(0, 999), several_conditions)
def test_a_configuration_clear_of_causes_holds_none_and_keeps_what_is_fixed(seed: int, conditions: list[Condition]) -> None:
    drawn = sampler(seed)
    start = drawn.valid(drawn.others(), ())
    assert start is not None
    cause = Cause(Signal("S6"), tuple(conditions))
    cleared = drawn.clear_of(start, [cause, Cause(Signal("S3"), (BOUNDARY,))], ["qps"])
    if cleared is not None:
        assert is_sendable(cleared)
        assert not cause.holds(cleared)
        assert not BOUNDARY.holds(cleared)
        assert cleared["qps"] == start["qps"]


def test_a_condition_over_the_whole_range_cannot_be_broken() -> None:
    inside = DEVICE.default
    assert sampler(1).broken(inside, Range("masks", 1, None), near=True, kept=[]) is None
    assert sampler(1).broken(inside, Range("masks", None, 256), near=False, kept=[]) is None
    assert sampler(1).broken(inside, Boundary(BOUNDARY.exponents, False, ">=", 0), near=False, kept=[]) is None


def test_a_boundary_that_no_configuration_reaches_has_no_inside() -> None:
    unreachable = Boundary(BOUNDARY.exponents, False, ">=", 10_000)
    assert sampler(1).inside([unreachable], [], corner=False) is None
    assert sampler(1).inside([unreachable], [], corner=True) is None


@settings(derandomize=True, max_examples=150)
@given(st.integers(1, 256), st.integers(0, 16), st.sampled_from(["masks", "vfs"]), st.sampled_from([">=", "<="]), st.integers(1, 5000))
def test_crossings_are_exact(masks: int, vfs: int, name: str, op: Any, value: int) -> None:
    boundary = Boundary(BOUNDARY.exponents, False, op, value)
    config = {**DEVICE.default, "masks": masks, "vfs": vfs}
    parameter = DEVICE.by_name[name]
    bad = [one for one in range(parameter.minimum, parameter.maximum + 1) if boundary.holds({**config, name: one})]
    last_good, first_bad = sampler(1).crossing(config, boundary, name)
    if last_good is None:
        assert len(bad) == parameter.size
    elif first_bad is None:
        assert not bad
    else:
        assert abs(last_good - first_bad) == 1
        assert first_bad in bad
        assert last_good not in bad


def test_few_values_come_up_equally_often_and_ends_of_ranges_most_of_all() -> None:
    drawn = sampler(3)
    configs = [drawn.others() for _ in range(300)]
    assert [sum(one["mode"] == value for one in configs) for value in ("a", "b", "c")] == [100] * 3
    assert sum(one["masks"] == 1 for one in configs) >= 75
    assert sum(one["masks"] == 256 for one in configs) >= 75


def test_only_the_parameters_that_were_asked_for_are_drawn() -> None:
    drawn = sampler(3, ("masks", "vfs"))
    for _ in range(50):
        config = drawn.others(["vfs"])
        assert {name for name in config if config[name] != DEVICE.default[name]} <= {"masks"}


def test_a_valid_configuration_stays_as_it_is_and_another_changes_only_in_the_topology() -> None:
    drawn = sampler(3)
    assert drawn.valid(DEVICE.default, ()) == DEVICE.default
    invalid: Config = {**DEVICE.default, "mode": "a", "offload": False, "masks": 77}
    found = drawn.valid(invalid, ["mode"])
    assert found == {**invalid, "offload": True}
    assert drawn.valid(invalid, ["mode", "offload"]) is None
