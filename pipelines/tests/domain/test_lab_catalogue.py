"""The lab's dimensions, and which cause shows in which."""

import copy
from typing import Any

import pytest

from wallwatch.domain.catalogue import lab, load
from wallwatch.domain.telemetry.registry import RegistryError

ENTRY: dict[str, Any] = {
    "label": "Widgets",
    "component": "Table",
    "unit": "widgets",
    "kind": "integer",
    "safe": {"from": 1, "to": 9},
    "adaptors": ["sim"],
    "names": ["widgets"],
    "why": "A reason.",
}


def changed(**fields: Any) -> dict[str, Any]:
    return {"dimensions": {"widgets": {**copy.deepcopy(ENTRY), **fields}}}


def test_the_file_is_valid_and_covers_the_causes_that_can_be_varied() -> None:
    assert set(lab.cause_dimensions()) == set(load.causes()) - {"C3"}
    assert {wall for d in lab.dimensions().values() for wall in d.walls_of("")} == set(load.walls())


def test_a_safe_range_reaches_past_the_wall_that_it_is_to_find() -> None:
    for dimension in lab.dimensions().values():
        for wall in dimension.walls_of(""):
            highest = max(profile.limits[wall].value for profile in load.profiles().values())
            assert dimension.safe is not None
            assert dimension.safe.high > highest, (dimension.id, wall)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (changed(safe=None), "safe: from and to are required"),
        (changed(kind="choice"), "invalid for anything else"),
        (changed(safe={"from": 5, "to": 5}), "from must be below to"),
        (changed(wall="height"), "wall 'height' is not in walls.yaml"),
        (changed(adaptors=[]), "adaptors"),
        (changed(adaptors=["toaster"]), "adaptors"),
        (changed(why=""), "why"),
        (changed(colour="blue"), "colour"),
        ({"dimensions": {"a": ENTRY, "b": ENTRY}}, "the name 'widgets' belongs to a already"),
        ({}, "expected a mapping"),
    ],
)
def test_a_mistake_in_a_dimension_is_named(raw: dict[str, Any], says: str) -> None:
    with pytest.raises(RegistryError, match=says):
        lab.parse_dimensions(raw)


@pytest.mark.parametrize(
    ("causes", "says"),
    [
        ({"C99": {"all": ["flows"], "any": ["flows"]}}, "cause 'C99' is not in causes.yaml"),
        ({"C1": {"all": ["height"], "any": ["height"]}}, "dimension 'height' is not in the file"),
        ({"C1": {"all": ["flows"], "any": ["masks"]}}, "any must be part of all"),
        ({"C1": {"all": [], "any": []}}, "all"),
    ],
)
def test_a_mistake_in_a_cause_is_named(causes: dict[str, Any], says: str) -> None:
    with pytest.raises(RegistryError, match=says):
        lab.parse_causes({"causes": causes}, lab.dimensions())


@pytest.mark.parametrize(
    ("parameter", "dimension"),
    [
        ("masks", "masks"),
        ("ingress_masks", "masks"),
        ("mask_order", "mask_order"),
        ("counter_interval_s", "counter_interval"),
        ("counter_mode", "counter_mode"),
        ("Encap contexts", "contexts"),
        ("unbind_parallel", "parallel_unbinding"),
        ("unmasked", None),  # a word that only contains a name
        ("colour", None),
        ("encapsulation_contexts", "contexts"),
        ("insertions_per_s", "insertion_rate"),
        ("masks_egress", "masks"),
        ("release_interval_ms", "release_interval"),
        ("", None),
    ],
)
def test_a_parameter_belongs_to_the_dimension_with_the_longest_name_in_it(parameter: str, dimension: str | None) -> None:
    assert lab.dimension_of(parameter) == dimension


def test_a_mistake_in_what_bounds_any_cause_is_named() -> None:
    with pytest.raises(RegistryError, match="anywhere: dimension 'height' is not in the file"):
        lab.parse_anywhere({"anywhere": ["height"]}, lab.dimensions())


def test_thresholds_of_masks_measure_the_wall_of_their_side() -> None:
    masks = lab.dimensions()["masks"]
    assert masks.walls_of("ingress_masks") == ("ingress_masks",)
    assert masks.walls_of("masks") == ("egress_masks", "ingress_masks")
    assert lab.dimensions()["flows"].walls_of("flows") == ("offloaded_flows",)


@pytest.mark.parametrize(
    ("symptom", "parameters", "cause"),
    [
        ("S6", ["masks"], "C6"),
        ("S6", ["egress_masks", "verb"], "C6"),
        ("S6", ["verb"], None),  # a verb alone is not what C6 is about
        ("S2", ["insertion_rate"], "C2"),
        ("S4", ["flows", "flow_churn"], "C4"),
        ("S1", ["flows"], "C1"),
        ("S5", ["flows", "counter_interval_s"], "C5"),
        ("S7", ["teardown_order", "vfs"], "C7"),
        ("S8", ["contexts", "tunnel"], "C8"),
        ("S8", ["masks"], None),  # the dimension of one cause, the symptom of another
        (None, ["contexts"], "C8"),
        (None, [], None),
        ("S6", ["masks", "colour"], None),  # a parameter that no cause has: something new
        ("S5", ["counter_interval_s", "firmware"], "C5"),  # which firmware has it says nothing of which cause it is
        ("S5", ["firmware"], None),
    ],
)
def test_a_found_cause_is_recognised(symptom: str | None, parameters: list[str], cause: str | None) -> None:
    assert lab.recognised(symptom, parameters) == cause


def test_a_campaign_for_a_cause_varies_the_parameters_in_which_it_shows() -> None:
    device = ["egress_masks", "flows", "counter_mode", "contexts", "mtu", "max_idle_ms"]
    assert lab.parameters_for("C5", device) == ["flows", "counter_mode", "max_idle_ms"]
    assert lab.parameters_for("C3", device) == []
