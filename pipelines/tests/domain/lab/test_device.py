"""What a device says of itself: every mistake is named, and nothing but `DescriptionError` ever comes out of a bad description."""

import copy
import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.device import (
    Config,
    DescriptionError,
    Device,
    Parameter,
    all_level_combinations,
    as_integer,
    as_order,
    as_scalar,
    from_json,
    parse_device,
    to_json,
)

from .planted import boolean, choice, description, device_of, integer, sequence

ALL_KINDS = description(
    integer("masks", 1, 64),
    integer("qps", 1, 4096, scale="log"),
    boolean("offload"),
    choice("mtu", 1500, 9000),
    choice("mode", "a", None, 1, True, 2.5),
    sequence("order", "x", "y", "z"),
    topology={
        "entries": ["vf"],
        "exits": ["uplink"],
        "edges": [{"from": "vf", "to": "uplink", "when": {"offload": False}}, {"from": "vf", "to": "uplink", "when": {"offload": True}}],
    },
    sequential=True,
    seconds_per_test=30,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.sampled_from(["", "a", "integer", "choice", "sequence", "log"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "kind", "values", "min", "max", "step", "from", "to", "when", "edges"]), inner, max_size=4
        )
    ),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *itertools.chain.from_iterable(_places(child, (*path, key)) for key, child in inner)]


@settings(derandomize=True, max_examples=400)
@given(st.sampled_from(_places(ALL_KINDS)[1:]), json_values, st.booleans())
def test_a_description_with_anything_at_any_place_is_read_or_refused(path: tuple[Any, ...], other: Any, leave_out: bool) -> None:
    raw = copy.deepcopy(ALL_KINDS)
    holder: Any = raw
    for key in path[:-1]:
        holder = holder[key]
    if leave_out:
        del holder[path[-1]]
    else:
        holder[path[-1]] = other
    problems: list[str] = []
    try:
        device = parse_device(raw)
    except DescriptionError as error:
        problems = error.problems
    assert problems or all(one.contains(device.default[one.name]) for one in device.parameters)


@settings(derandomize=True, max_examples=200)
@given(json_values)
def test_no_json_at_all_raises_anything_else(raw: Any) -> None:
    with pytest.raises(DescriptionError):
        parse_device(raw)


def test_a_good_description_is_read_whole() -> None:
    device = parse_device(ALL_KINDS)
    assert [one.kind for one in device.parameters] == ["integer", "integer", "boolean", "choice", "choice", "sequence"]
    assert [one.size for one in device.parameters] == [64, 4096, 2, 2, 5, 6]
    assert device.by_name["qps"].logarithmic
    assert not device.by_name["masks"].logarithmic
    assert device.default["order"] == ("x", "y", "z")
    assert device.sequential
    assert device.seconds_per_test == 30
    assert device.topology is not None
    assert device.metric["bw_gbps"].unit == "Gbit/s"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"protocol": "dut/2"}, "protocol is 'dut/2'"),
        ({"parameters": []}, "it has no parameters"),
        ({"parameters": {}}, "parameters must be a list"),
        ({"parameters": ["masks"]}, "parameters holds 'masks', which is no object"),
        ({"parameters": [integer("a", 1, 2), integer("a", 1, 2)]}, "two parameters are named 'a'"),
        ({"parameters": [integer("a", 3, 2)]}, "a: min, max and step must be integers"),
        ({"parameters": [integer("a", 1, 2, step=0)]}, "a: min, max and step must be integers"),
        ({"parameters": [integer("a", 1, 2) | {"max": True}]}, "a: min, max and step must be integers"),
        ({"parameters": [choice("a")]}, "a: values must be a list"),
        ({"parameters": [choice("a", 1, 1)]}, "a: a value occurs twice"),
        ({"parameters": [choice("a", [1])]}, "a: values must be a list"),
        ({"parameters": [{"name": "a", "kind": "real"}]}, "kind is 'real'"),
        ({"parameters": [{"kind": "boolean"}]}, "parameter 1 has no name"),
        ({"default": None}, "default must be an object"),
        ({"default": {}}, "default has no value of masks"),
        ({"default": ALL_KINDS["default"] | {"masks": 65}}, "default: masks cannot be 65"),
        ({"default": ALL_KINDS["default"] | {"masks": True}}, "default: masks cannot be True"),
        ({"default": ALL_KINDS["default"] | {"order": ["x", "y"]}}, "default: order cannot be ['x', 'y']"),
        ({"metrics": [{"name": "bw", "better": "faster"}]}, "better must be higher or lower"),
        ({"metrics": [{"name": "bw"}, {"name": "bw"}]}, "two metrics are named 'bw'"),
        ({"topology": []}, "topology must be an object or null"),
        ({"topology": {"entries": [], "exits": ["u"], "edges": []}}, "entries and exits must name"),
        ({"topology": {"entries": ["v"], "exits": ["u"], "edges": [{"from": "v"}]}}, "needs from, to"),
        (
            {"topology": {"entries": ["v"], "exits": ["u"], "edges": [{"from": "v", "to": "u", "when": {"no": 1}}]}},
            "'no', which is no parameter",
        ),
    ],
)
def test_each_mistake_is_named(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(DescriptionError) as error:
        parse_device(ALL_KINDS | change)
    assert any(reason in one for one in error.value.problems), error.value.problems


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(DescriptionError) as error:
        parse_device({"protocol": "x", "parameters": [integer("a", 3, 2), {"kind": "boolean"}], "default": {}, "metrics": 5})
    assert len(error.value.problems) == 4


@pytest.mark.parametrize("seconds", [0, -1, 10**400, float("nan"), float("inf"), "30", None])
def test_a_duration_that_is_no_duration_is_unknown(seconds: Any) -> None:
    assert parse_device(ALL_KINDS | {"seconds_per_test": seconds}).seconds_per_test is None


def test_an_integer_ends_at_its_last_step() -> None:
    parameter = device_of(integer("a", 1, 10, step=4)).parameters[0]
    assert (parameter.maximum, parameter.size) == (9, 3)
    assert [value for value in range(12) if parameter.contains(value)] == [1, 5, 9]


def test_true_is_no_one_and_one_is_no_true() -> None:
    mode = device_of(choice("mode", 1, "x")).parameters[0]
    assert mode.contains(1)
    assert not mode.contains(True)
    assert not mode.contains(1.0)


integers = st.builds(
    lambda low, steps, step, logarithmic: Parameter(
        "a", "integer", minimum=low, maximum=low + steps * step, step=step, logarithmic=logarithmic
    ),
    st.integers(-50, 50),
    st.integers(0, 3000),
    st.integers(1, 20),
    st.booleans(),
)


@settings(derandomize=True)
@given(integers, st.data())
def test_a_value_between_two_is_a_value_of_the_parameter_between_them(parameter: Parameter, data: st.DataObject) -> None:
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, parameter.size - 1)] * 2)))
    low, high = parameter.at(first), parameter.at(second)
    share = data.draw(st.floats(0, 1))
    value = parameter.between(low, high, share)
    assert parameter.contains(value)
    assert low <= value <= high
    assert parameter.at(parameter.index(value)) == value
    assert parameter.between(low, high, 0) == low
    assert parameter.between(low, high, 1) == high


@settings(derandomize=True)
@given(integers)
def test_levels_hold_both_ends_and_are_at_most_five(parameter: Parameter) -> None:
    levels = parameter.levels(parameter.minimum, parameter.maximum)
    assert list(levels) == sorted(set(levels))
    assert len(levels) == min(parameter.size, 5) or parameter.logarithmic
    assert (levels[0], levels[-1]) == (parameter.minimum, parameter.maximum)
    assert all(map(parameter.contains, levels))


def test_brute_force_counts_what_it_would_test() -> None:
    device = device_of(integer("a", 1, 3), integer("b", 0, 100), choice("c", 1, 2, 3), boolean("d"), sequence("e", 1, 2, 3))
    combinations = list(all_level_combinations(device))
    assert len(combinations) == device.brute_force == 3 * 5 * 3 * 2 * math.factorial(3)
    assert len({device.key(one) for one in combinations}) == len(combinations)


def test_a_configuration_survives_json() -> None:
    device = parse_device(ALL_KINDS)
    config: Config = device.default | {"masks": 7, "order": ("z", "x", "y")}
    assert from_json(device, json.loads(json.dumps(to_json(config)))) == config
    assert from_json(device, {"masks": 7}) == device.default | {"masks": 7}


def test_a_configuration_with_unknown_names_or_values_is_refused() -> None:
    device: Device = parse_device(ALL_KINDS)
    with pytest.raises(DescriptionError, match=r"no parameter 'flows'; masks cannot be 99"):
        from_json(device, {"flows": 1, "masks": 99})
    with pytest.raises(DescriptionError):
        from_json(device, {"order": [["x"], "y", "z"]})


def test_a_value_of_another_kind_is_a_programming_error() -> None:
    assert as_integer(3) == 3
    assert as_order(("a",)) == ("a",)
    assert as_scalar("a") == "a"
    with pytest.raises(TypeError):
        as_integer("3")
    with pytest.raises(TypeError):
        as_order("a")
    with pytest.raises(TypeError):
        as_scalar(("a",))
