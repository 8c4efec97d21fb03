"""Profiles that were promoted in place of the catalogue's."""

from collections.abc import Iterator

import pytest

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.load import generic_profile, profiles
from wallwatch.domain.catalogue.promoted import Promotion, profile_of
from wallwatch.domain.walls.headroom import read_walls

FASTER = profiles()["CX-7"].performance


def promotion(model: str = "CX-6", driver: str = "", fw_ver: str = "", limits: dict[str, float] | None = None) -> Promotion:
    return Promotion(model, driver, fw_ver, FASTER, limits or {}, "version 3")


@pytest.fixture(autouse=True)
def catalogue_again() -> Iterator[None]:
    yield
    promoted.use([])


def test_without_promotions_the_catalogue_is_active() -> None:
    assert promoted.profiles() is profiles()
    assert profile_of("CX-6") is profiles()["CX-6"]


def test_a_promoted_profile_is_active_for_its_model_alone_and_ends_when_it_is_withdrawn() -> None:
    assert promoted.use([promotion(limits={"offloaded_flows": 6100})]) == []
    assert promoted.profiles()["CX-6"].performance == FASTER
    assert promoted.profiles()["CX-6"].performance_basis == "calibrated"
    assert promoted.profiles()["CX-5"] == profiles()["CX-5"]
    [flows] = read_walls({"flows_offloaded": 6100}, promoted.profiles()["CX-6"])
    assert (flows.headroom, flows.basis) == (0.0, "calibrated")
    promoted.use([])
    assert promoted.profiles()["CX-6"] == profiles()["CX-6"]


def test_the_walls_of_masks_follow_from_the_promoted_surface_and_say_from_which_version() -> None:
    promoted.use([promotion()])
    limit = promoted.profiles()["CX-6"].limits["egress_masks"]
    assert limit.value == profiles()["CX-7"].limits["egress_masks"].value
    assert (limit.basis, "version 3" in limit.source) == ("calibrated", True)


def test_the_nearest_scope_counts_firmware_before_driver_before_model() -> None:
    slower = profiles()["CX-4"].performance
    promoted.use([promotion(fw_ver="20.35"), promotion(driver="mlx5_core")._replace(performance=slower)])
    assert profile_of("CX-6", "mlx5_core", "20.35").performance == FASTER  # type: ignore[union-attr]
    assert profile_of("CX-6", "mlx5_core", "20.41").performance == slower  # type: ignore[union-attr]
    assert profile_of("CX-6", "other", "20.41") == profiles()["CX-6"]


def test_what_cannot_be_used_is_named_and_leaves_the_catalogue_s_profile() -> None:
    problems = promoted.use([promotion("CX-9"), promotion(limits={"luck": 7})])
    assert [p.split(":")[0].strip() for p in problems] == ["CX-9", "CX-6"]
    assert "expected one of" in problems[1]
    assert promoted.profiles()["CX-6"] == profiles()["CX-6"]


def test_an_unknown_model_is_measured_by_the_catalogue_whatever_is_promoted() -> None:
    before = generic_profile()
    promoted.use([promotion(limits={"offloaded_flows": 10})])
    assert generic_profile() == before
