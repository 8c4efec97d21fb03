"""The catalogue and the registry: complete, consistent, and clear about what is wrong with them."""

from typing import Any

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Bound, Cause, Condition, Definition, Entry, EvidenceRule, Symptom
from wallwatch.domain.catalogue.residual import parse_rule, residual_rule
from wallwatch.domain.telemetry.registry import RegistryError, field, measurements, parse_measurements, parse_topics, topics


def test_eight_symptoms_and_eight_causes_with_the_ratios_of_table_1() -> None:
    ratios = {"S1": 0.171, "S2": 0.059, "S3": 0.052, "S4": 0.114, "S5": 0.153, "S6": 0.299, "S7": 0.084, "S8": 0.068}
    assert {s.id: s.ratio for s in load.symptoms().values()} == ratios
    assert {c.id: c.prior for c in load.causes().values()} == {f"C{s[1]}": r for s, r in ratios.items()}


def test_all_eight_symptoms_are_detected() -> None:
    assert {s.id for s in load.symptoms().values() if s.definition is not None} == {f"S{n}" for n in range(1, 9)}


def test_every_profile_has_a_limit_with_basis_and_source_for_every_wall() -> None:
    for profile in load.profiles().values():
        assert set(profile.limits) == set(load.walls())
        assert all(limit.source for limit in profile.limits.values())
        derived = "model" if profile.performance_basis == "paper" else "assumed"
        assert profile.limits["egress_masks"].basis == profile.limits["ingress_masks"].basis == derived


def test_whatever_is_assumed_of_a_model_that_nobody_measured_says_so() -> None:
    for name, like in {"BF-2": "CX-6", "CX-8": "CX-7", "P2100": "E810"}.items():
        profile, other = load.profiles()[name], load.profiles()[like]
        assert profile.performance == other.performance
        assert (profile.performance_basis, other.performance_basis) == ("assumed", "paper")
        assert {limit.basis for limit in profile.limits.values()} == {"assumed"}
        assert profile.performance_source.startswith(f"{like}'s parameters: nothing is published")
        assert "Table 3" in other.performance_source
    assert load.generic_profile().performance_basis == "assumed"


def test_only_limits_printed_in_the_paper_say_so() -> None:
    on_paper = {(p.id, w) for p in load.profiles().values() for w, limit in p.limits.items() if limit.basis == "paper"}
    assert ("CX-6", "offloaded_flows") in on_paper
    assert ("CX-4", "offloaded_flows") not in on_paper
    assert ("BF-3", "encap_contexts") in on_paper
    assert ("CX-7", "encap_contexts") not in on_paper


@pytest.mark.parametrize(
    ("pci_id", "hca_type", "model"),
    [
        ("15b3:1013", None, "CX-4"),
        ("15b3:1017", None, "CX-5"),
        ("15b3:101b", "MT4123", "CX-6"),
        ("15B3:101D", None, "CX-6"),
        (None, "MT4129", "CX-7"),
        ("15b3:a2dc", None, "BF-3"),
        ("8086:1592", None, "E810"),
        ("15b3:a2d6", None, "BF-2"),
        (None, "MT41686", "BF-2"),
        ("15b3:1023", "MT4131", "CX-8"),
        ("14e4:1750", None, "P2100"),
        ("14e4:1752", None, "P2100"),
        ("8086:10fb", None, None),
        (None, None, None),
    ],
)
def test_a_device_is_recognised_by_its_pci_id_or_hca_type(pci_id: str | None, hca_type: str | None, model: str | None) -> None:
    assert load.model_of(pci_id, hca_type) == model


def test_remedies_accept_their_range_and_name_each_problem() -> None:
    tune = load.remedies()["tune-revalidator"]
    assert tune.problems({"max_idle_ms": 500}) == tune.problems({"flow_limit": 1_000_000}) == {}
    assert "500 to 3600000" in tune.problems({"max_idle_ms": 499})["max_idle_ms"]
    assert "integer" in tune.problems({"max_idle_ms": True})["max_idle_ms"]
    assert "at least one" in tune.problems({})["max_idle_ms"]
    assert "not a parameter" in tune.problems({"flow_limit": 1000, "speed": 1})["speed"]
    cordon = load.remedies()["cordon-rnic"]
    assert cordon.problems({"pci": "0000:3b:00.0", "reason": "x" * 200}) == {}
    assert set(cordon.problems({"pci": "3b:00.0", "reason": "x" * 201})) == {"pci", "reason"}
    assert cordon.problems({"reason": "because"}) == {"pci": "is missing"}


def test_a_condition_without_its_clear_threshold_is_refused_with_its_place() -> None:
    condition = {
        "signal": "reoffload_ratio",
        "role": "required",
        "window_s": 15,
        "statistic": "mean",
        "raise": {"at_least": 0.2},
        "text": "x",
        "why": "x",
    }
    body = {
        "title": "t", "layer": "driver", "ratio": 0.1, "cause": "C1", "looks_like": "l",
        "definition": {
            "rule": "r", "blast_radius": "flows", "raise_for_s": 1, "clear_for_s": 1, "why": "x", "conditions": [condition],
            "critical_when": [],
            "summary": "s", "remedies": [],
        },
    }  # fmt: skip
    with pytest.raises(RegistryError, match=r"symptoms.yaml, entry S1.*(?s:.)*clear"):
        load.parse_entries("symptoms.yaml", {"S1": body}, Symptom)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (Condition, {"signal": "boots", "role": "gate", "window_s": 60, "statistic": "count", "raise": {"at_most": 0}, "text": "x"}),
        (
            EvidenceRule,
            {"signal": "boots", "test": {"at_most": 0}, "p_if_cause": 0.9, "p_otherwise": 0.1, "text_for": "x", "text_against": "x"},
        ),
        (
            Definition,
            {
                "rule": "r", "blast_radius": "flows", "raise_for_s": 1, "clear_for_s": 1, "critical_when": [], "summary": "s",
                "remedies": [],
                "conditions": [load.detected()["S2"].definition.conditions[0]],  # type: ignore[union-attr]
            },
        ),
    ],
)  # fmt: skip
def test_a_threshold_without_a_reason_is_refused(kind: type[Entry], body: dict[str, Any]) -> None:
    assert kind.model_validate({**body, "why": "Because of the mechanism."})
    for without in (body, {**body, "why": ""}):
        with pytest.raises(ValueError, match="why"):
            kind.model_validate(without)


def test_a_threshold_of_the_residual_without_a_reason_is_refused() -> None:
    raw = {
        "rule": "U/2",
        "thresholds": {name: {"value": getattr(residual_rule(), name), "why": why} for name, why in residual_rule().why.items()},
    }
    assert parse_rule(raw) == residual_rule()
    assert set(residual_rule().why) == set(type(residual_rule()).model_fields) - {"rule", "why"}
    del raw["thresholds"]["share"]["why"]  # type: ignore[attr-defined]
    with pytest.raises(RegistryError, match=r"residual.yaml: KeyError\('why'\)"):
        parse_rule(raw)


def test_a_prior_out_of_range_is_refused_with_its_place() -> None:
    with pytest.raises(RegistryError, match=r"causes.yaml, entry C1(?s:.)*prior"):
        load.parse_entries("causes.yaml", {"C1": {"prior": 1.5}}, Cause)


def test_a_bound_is_one_comparison() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Bound(at_least=1, below=2)
    assert not Bound(below=0.05).holds(0.05)
    assert Bound(at_most=0.75).holds(0.75)
    assert Bound(above=0.85).opposite_text == "<= 0.85"


def test_topics_have_the_defaults_unless_they_say_otherwise() -> None:
    found = topics()
    assert found["wallwatch.rnic"].partitions == 12
    assert found["wallwatch.findings"].retention_hours == 168
    assert found["wallwatch.dead_letter"].measurement is None


def test_every_measurement_has_a_topic_and_every_field_a_unit() -> None:
    assert {t.measurement for t in topics().values() if t.measurement} == set(measurements())
    assert all(f.unit and f.label for m in measurements().values() for f in m.fields.values())


def test_a_registry_entry_with_an_unknown_type_is_refused_with_its_place() -> None:
    bad = {"type": "decimal", "kind": "gauge", "unit": "x", "stored": "column", "source": "s", "label": "l", "meaning": "m"}
    raw = {"measurements": {"m": {"meaning": "x", "hypertable": "h", "tags": {}, "fields": {"f": bad}}}}
    with pytest.raises(RegistryError, match=r"(?s)metrics.yaml.*fields.*f.*type"):
        parse_measurements(raw)
    with pytest.raises(RegistryError, match="partitions"):
        parse_topics({"topics": {"t": {"meaning": "x", "partitions": 0, "retention_hours": 1, "compression": "lz4"}}})


def test_a_wrong_field_name_says_which_there_are() -> None:
    with pytest.raises(RegistryError, match="q_egress"):
        field("rnic_offload", "q_out")


def test_a_remedy_may_be_proven_by_a_signal_that_keeps_below_its_own_parameter() -> None:
    cap = load.remedies()["cap-encap-contexts"].change
    params: dict[str, object] = {"max_contexts": 8000, "max_ports": 2}
    assert cap.holds(8000.0, params)
    assert not cap.holds(8001.0, params)
    assert cap.expected_with(params) == "<= 8000"


def test_every_remedy_says_what_it_is_for() -> None:
    assert all(remedy.helps for remedy in load.remedies().values())
    suggested = {(s.id, r.action) for s in load.symptoms().values() if s.definition for r in s.definition.remedies}
    assert [pair for pair in sorted(suggested) if pair[0] not in load.remedies()[pair[1]].helps] == []
