"""Ranking of causes: what the evidence should and should not do to it."""

from collections.abc import Callable

import pytest

from wallwatch.domain.catalogue.load import causes
from wallwatch.domain.catalogue.models import EvidenceRule, FixedIn
from wallwatch.domain.evidence import Feature
from wallwatch.domain.hypotheses.rank import Hypothesis, prior_of, rank
from wallwatch.domain.hypotheses.versions import Identity, comparable, flawed_by, repaired_by, version


def signals(**values: float) -> Callable[[EvidenceRule], Feature | None]:
    return lambda rule: Feature(values[rule.signal], 1_790_000_000_000, 1_790_000_030_000) if rule.signal in values else None


def posterior(found: list[Hypothesis], cause: str) -> float:
    return next(h.posterior for h in found if h.cause == cause)


def test_s1_with_counters_that_stand_still_beyond_max_idle_is_c5_before_c1() -> None:
    found = rank("S1", signals(stale_reoffload_share=0.9, reoffload_ratio=0.9, flows_wall_share=1.04))
    assert [h.cause for h in found[:2]] == ["C5", "C1"]
    assert found[0].posterior > 0.7
    assert {e.signal for e in found[0].evidence_for} == {"stale_reoffload_share", "flows_wall_share"}
    assert "max-idle" in found[0].next_test


def test_s1_with_counters_that_move_in_time_is_c1_before_c5() -> None:
    found = rank("S1", signals(stale_reoffload_share=0.0, reoffload_ratio=0.9))
    assert found[0].cause == "C1"
    c5 = next(h for h in found if h.cause == "C5")
    assert c5.evidence_against[0].signal == "stale_reoffload_share"
    assert (c5.evidence_against[0].test, c5.evidence_against[0].expected) == (">= 0.25", None), "a test is not what is expected"


def test_without_evidence_s1_follows_the_priors_and_stays_open() -> None:
    found = rank("S1", signals())
    assert found[0].cause == "C1"
    assert posterior(found, "C5") > 0.25
    assert all(not h.evidence_for and not h.evidence_against for h in found)


def test_s6_with_a_predicted_loss_is_c6() -> None:
    found = rank("S6", signals(bandwidth_share=0.6, reoffload_ratio=0.0))
    assert found[0].cause == "C6"
    assert found[0].posterior > 0.95


@pytest.mark.parametrize("symptom", ["S1", "S2", "S6", "S8"])
def test_posteriors_add_up_to_one_over_all_eight_causes(symptom: str) -> None:
    found = rank(symptom, signals(stale_reoffload_share=0.9, bandwidth_share=0.5, encap_wall_share=0.99, insertions_wall_share=0.2))
    assert len(found) == 8
    assert sum(h.posterior for h in found) == pytest.approx(1)
    assert [h.posterior for h in found] == sorted((h.posterior for h in found), reverse=True)


def test_s2_with_full_encapsulation_contexts_is_c8_before_c2() -> None:
    assert rank("S2", signals(encap_wall_share=1.0, insertions_wall_share=0.1))[0].cause == "C8"
    assert rank("S2", signals(encap_wall_share=0.1, insertions_wall_share=0.95))[0].cause == "C2"


def test_evidence_for_a_cause_of_another_symptom_leaves_the_ranking_of_this_one() -> None:
    found = rank("S2", signals(insertions_wall_share=0.1, vf_unbinds=8, pcie_losses=1))
    assert [h.cause for h in found] == [h.cause for h in rank("S2", signals(insertions_wall_share=0.1))]


@pytest.mark.parametrize(
    ("symptom", "cause", "signal", "speaks_for", "speaks_against"),
    [
        ("S1", "C1", "flows_wall_share", 1.0, 0.2),
        ("S2", "C2", "insertions_wall_share", 1.0, 0.2),
        ("S2", "C2", "driver_lockups", 1, 0),
        ("S3", "C3", "creation_oopses", 1, 0),
        ("S3", "C3", "flows_wall_share", 1.0, 0.2),
        ("S4", "C4", "deletion_share", 9.0, 1.0),
        ("S4", "C4", "flows_wall_share", 1.0, 0.2),
        ("S1", "C5", "stale_reoffload_share", 1.0, 0.0),
        ("S1", "C5", "overdue_share", 0.2, 0.0),
        ("S5", "C5", "counter_gap_p95_s", 20.0, 2.0),
        ("S5", "C5", "flows_wall_share", 1.0, 0.2),
        ("S6", "C6", "bandwidth_share", 0.5, 1.0),
        ("S6", "C6", "reoffload_ratio", 0.0, 0.5),
        ("S7", "C7", "vf_unbinds", 8, 0),
        ("S7", "C7", "pcie_losses", 1, 0),
        ("S8", "C8", "encap_wall_share", 1.0, 0.2),
        ("S8", "C8", "device_stops", 1, 0),
        ("S8", "C8", "transmit_stops", 1, 0),
        ("S2", "C8", "encap_wall_share", 1.0, 0.2),
        ("S2", "C8", "device_stops", 1, 0),
    ],
)
def test_each_evidence_makes_its_cause_more_likely_and_its_absence_less(
    symptom: str, cause: str, signal: str, speaks_for: float, speaks_against: float
) -> None:
    unknown = posterior(rank(symptom, signals()), cause)
    assert posterior(rank(symptom, signals(**{signal: speaks_for})), cause) > unknown + 0.001
    assert posterior(rank(symptom, signals(**{signal: speaks_against})), cause) < unknown - 0.001


@pytest.mark.parametrize("cause", sorted(causes()))
def test_evidence_for_a_cause_never_lowers_it_and_evidence_against_never_raises_it(cause: str) -> None:
    for rule in causes()[cause].rules:
        bound = rule.test
        limit = bound.at_least if bound.at_least is not None else bound.at_most
        assert limit is not None
        met, unmet = (limit, limit - 0.05) if bound.at_least is not None else (limit, limit + 0.05)
        for symptom in rule.only_for or causes()[cause].explains:
            before = posterior(rank(symptom, signals()), cause)
            assert posterior(rank(symptom, signals(**{rule.signal: met})), cause) >= before - 1e-12
            assert posterior(rank(symptom, signals(**{rule.signal: unmet})), cause) <= before + 1e-12


FIXED = Identity("CX-6", "mlx5_core", "20.43.2000", "24.10-2.0.0")
FLAWED = Identity("CX-6", "mlx5_core", "20.35.1012", "5.4-1.0.3")


def test_a_firmware_that_repairs_a_cause_makes_it_less_likely() -> None:
    fixed, flawed = (rank("S5", signals(), rnic) for rnic in (FIXED, FLAWED))
    assert posterior(fixed, "C5") < 0.8 * posterior(flawed, "C5")
    assert next(h.prior for h in fixed if h.cause == "C5") == pytest.approx(0.0153)


def test_a_driver_that_repairs_a_cause_makes_it_less_likely() -> None:
    evidence = signals(insertions_wall_share=0.9, driver_lockups=1)
    assert posterior(rank("S2", evidence, FIXED), "C2") < posterior(rank("S2", evidence, FLAWED), "C2")


def test_an_unknown_version_leaves_the_prior_as_the_paper_has_it() -> None:
    for cause in causes().values():
        assert prior_of(cause, Identity()) == cause.prior


def test_causes_seen_on_nvidia_devices_are_less_likely_on_others() -> None:
    assert posterior(rank("S4", signals(), Identity("E810", "ice")), "C4") < posterior(rank("S4", signals(), FLAWED), "C4")


@pytest.mark.parametrize(("older", "newer"), [("20.35.1012", "20.41.1000"), ("5.4-1.0.3", "24.10-1.1.4"), ("20.9.0", "20.10.0")])
def test_versions_compare_by_their_numbers(older: str, newer: str) -> None:
    assert version(older) < version(newer)


@pytest.mark.parametrize(
    ("model", "fw_ver", "repaired"),
    [
        ("CX-6", "20.41.999", False),
        ("CX-6", "20.41.1000", True),
        ("CX-6", "20.41.1001", True),
        ("CX-6", "22.35.1012", False),  # ConnectX-6 Dx
        ("CX-6", "22.41.1000", False),
        ("CX-6", "26.43.2000", False),  # ConnectX-6 Lx
        ("CX-4", "12.28.2006", True),
        ("CX-4", "14.32.1900", False),  # ConnectX-4 Lx
        ("CX-6", "", False),
        ("CX-6", "?", False),
    ],
)
@pytest.mark.parametrize("cause", ["C1", "C5"])
def test_a_firmware_repairs_a_cause_from_its_version_on_within_its_family(cause: str, model: str, fw_ver: str, repaired: bool) -> None:
    rnic = Identity(model, "mlx5_core", fw_ver)
    assert bool(repaired_by(causes()[cause], rnic)) == repaired
    assert prior_of(causes()[cause], rnic) == pytest.approx(causes()[cause].prior * (0.1 if repaired else 1.0))


@pytest.mark.parametrize(("fw_ver", "flawed"), [("20.41.999", True), ("20.41.1000", False), ("16.35.1012", False), ("22.35.1012", False)])
def test_a_firmware_of_another_family_is_not_known_to_have_a_cause(fw_ver: str, flawed: bool) -> None:
    assert bool(flawed_by(causes()["C5"], Identity("CX-6", "mlx5_core", fw_ver))) == flawed


@pytest.mark.parametrize(
    ("cause", "rnic", "flawed", "repaired"),
    [
        ("C5", Identity("CX-6", "mlx5_core", "20.41.999"), "firmware 20.41.999 (fixed from 20.41.1000 on)", ""),
        ("C5", Identity("CX-6", "mlx5_core", "20.41.1000"), "", "firmware 20.41.1000 (fixed from 20.41.1000 on)"),
        ("C2", Identity("CX-6", "mlx5_core", "", "24.10-1.1.3"), "driver 24.10-1.1.3 (fixed from 24.10-1.1.4 on)", ""),
        ("C2", Identity("CX-6", "mlx5_core", "", "24.10-1.1.4"), "", "driver 24.10-1.1.4 (fixed from 24.10-1.1.4 on)"),
        ("C2", Identity("E810", "ice", "", "1.15.4"), "", "driver 1.15.4 (fixed from 1.15.4 on)"),
        ("C2", Identity("CX-6", "bnxt_en", "", "1.0"), "", ""),
        ("C5", Identity("E810", "ice", "1.0"), "", ""),
        ("C5", Identity(), "", ""),
    ],
)
def test_the_installed_version_is_named_with_the_first_one_that_has_the_fix(cause: str, rnic: Identity, flawed: str, repaired: str) -> None:
    assert flawed_by(causes()[cause], rnic) == flawed
    assert repaired_by(causes()[cause], rnic) == repaired


def test_a_ranking_is_sent_with_four_digits() -> None:
    first = rank("S1", signals(stale_reoffload_share=0.9))[0].as_json()
    assert first["prior"] == 0.153
    assert first["posterior"] == round(posterior(rank("S1", signals(stale_reoffload_share=0.9)), "C5"), 4)
    assert first["posterior"] != round(first["posterior"], 3)


def test_versions_of_a_vendor_without_families_are_compared_whole() -> None:
    assert comparable("E810", "5.01 0x80020e21", "4.40")
    fixed = causes()["C5"].model_copy(update={"fixed_in": (FixedIn(models=("E810",), firmware_from="4.40"),)})
    assert repaired_by(fixed, Identity("E810", "ice", "5.01 0x80020e21"))
    assert flawed_by(fixed, Identity("E810", "ice", "3.20 0x8000d83e"))


def test_a_first_repaired_firmware_without_its_models_is_refused() -> None:
    with pytest.raises(ValueError, match="needs models"):
        FixedIn(firmware_from="20.41.1000")
