"""The performance model and the walls that are derived from it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.catalogue.load import profiles, walls
from wallwatch.domain.performance.formulas import bandwidth_gbps, bandwidth_share, bandwidths_gbps, latency_us, masks_at_bandwidth_loss
from wallwatch.domain.walls.headroom import headrooms, nearest, read_walls

MODELS = sorted(profiles())
lookup_counts = st.floats(0, 200, allow_nan=False)


@pytest.mark.parametrize(("model", "gbps"), [("CX-4", 38.0), ("CX-5", 78.8), ("CX-6", 158), ("CX-7", 352), ("BF-3", 354), ("E810", 170)])
def test_at_the_head_of_both_chains_the_model_gives_the_paper_s_bandwidth(model: str, gbps: float) -> None:
    assert bandwidth_gbps(profiles()[model].performance, 0, 0) == pytest.approx(gbps, abs=0.6)


@given(st.sampled_from(MODELS), lookup_counts, lookup_counts, st.floats(0.1, 50))
def test_more_lookups_never_mean_more_bandwidth_or_less_latency(model: str, q_l: float, q_r: float, more: float) -> None:
    p = profiles()[model].performance
    assert bandwidth_gbps(p, q_l + more, q_r) <= bandwidth_gbps(p, q_l, q_r)
    assert bandwidth_gbps(p, q_l, q_r + more) <= bandwidth_gbps(p, q_l, q_r)
    assert latency_us(p, q_l + more, q_r) > latency_us(p, q_l, q_r)
    assert p.w <= bandwidth_gbps(p, q_l, q_r) <= p.u + p.w


@given(st.sampled_from(MODELS), lookup_counts, st.floats(0, 2 * math.pi))
def test_the_surface_is_rotationally_symmetric_about_its_centre(model: str, radius: float, angle: float) -> None:
    p = profiles()[model].performance
    turned = bandwidth_gbps(p, p.m + radius * math.cos(angle), p.n + radius * math.sin(angle))
    assert turned == pytest.approx(bandwidth_gbps(p, p.m + radius, p.n), rel=1e-9)


@given(st.lists(st.tuples(lookup_counts, lookup_counts), min_size=1, max_size=20))
def test_the_model_for_arrays_agrees_with_the_model_for_numbers(points: list[tuple[float, float]]) -> None:
    p = profiles()["E810"].performance
    left, right = zip(*points, strict=True)
    assert bandwidths_gbps(p, left, right) == pytest.approx([bandwidth_gbps(p, a, b) for a, b in points])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("direction", ["egress", "ingress"])
@pytest.mark.parametrize("loss", [0.05, 0.3, 0.5])
def test_the_mask_limit_is_the_last_number_of_masks_within_the_loss(model: str, direction: str, loss: float) -> None:
    p = profiles()[model].performance
    n = masks_at_bandwidth_loss(p, loss, direction)

    def share(masks: int) -> float:
        q = (masks - 1) / 2
        return bandwidth_share(p, q, 0) if direction == "egress" else bandwidth_share(p, 0, q)

    assert share(n) >= 1 - loss > share(n + 1)


def test_a_loss_below_the_model_s_floor_is_refused() -> None:
    with pytest.raises(ValueError, match="never reached"):
        masks_at_bandwidth_loss(profiles()["CX-6"].performance, 0.99, "egress")


def test_headroom_is_what_is_left_and_negative_beyond_the_wall() -> None:
    readings = {r.wall: r for r in read_walls({"flows_offloaded": 7700, "encap_contexts": 1000}, profiles()["CX-6"])}
    assert readings["offloaded_flows"].headroom == pytest.approx(-0.1)
    assert readings["encap_contexts"].headroom == pytest.approx(0.9)


def test_a_wall_whose_value_is_missing_is_absent_and_not_at_zero() -> None:
    readings = read_walls({"flows_offloaded": 100, "masks_egress": None}, profiles()["CX-6"])
    assert [r.wall for r in readings] == ["offloaded_flows"]


def test_a_value_of_zero_is_a_value() -> None:
    assert [(r.wall, r.headroom) for r in read_walls({"flows_offloaded": 0}, profiles()["CX-6"])] == [("offloaded_flows", 1.0)]


def test_an_unknown_model_has_no_walls_and_no_nearest() -> None:
    assert read_walls({"flows_offloaded": 9999}, None) == []
    assert nearest([]) is None


values = st.one_of(st.none(), st.integers(0, 20_000))


@given(st.sampled_from(MODELS), st.lists(st.tuples(*[values] * 5), min_size=1, max_size=10))
def test_headroom_of_many_rnics_agrees_with_one_at_a_time(model: str, rows: list[tuple[int | None, ...]]) -> None:
    profile, names = profiles()[model], [w.signal for w in walls().values()]
    array = np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=np.float64)
    limits = np.array([[profile.limits[w].value for w in walls()]] * len(rows))
    found, column = headrooms(array, limits)
    for row, headroom, index in zip(rows, found, column, strict=True):
        one = nearest(read_walls(dict(zip(names, row, strict=True)), profile))
        if one is None:
            assert math.isnan(headroom)
            assert index == -1
        else:
            assert headroom == pytest.approx(one.headroom)
            assert list(walls())[index] == one.wall
