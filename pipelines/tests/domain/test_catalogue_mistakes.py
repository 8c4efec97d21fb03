"""Each mistake that someone may make in a file of the catalogue is refused, and the message names the entry."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.grouping import Grouping
from wallwatch.domain.catalogue.models import Condition
from wallwatch.domain.catalogue.remedy_models import RemedyAction
from wallwatch.domain.telemetry.registry import RegistryError, parse_measurements, parse_topics

Body = dict[str, Any]


def put(place: str, value: object, raw: Body) -> None:
    """Set one value of a file's content; a place is a path of keys and numbers."""
    *path, last = [int(part) if part.isdigit() else part for part in place.split("/")]
    inner: Any = raw
    for part in path:
        inner = inner[part]
    inner[last] = value


@pytest.mark.parametrize(
    ("file", "read", "place", "value", "message"),
    [
        ("symptoms", load.symptoms, "symptoms/S2/cause", "C9", "entry S2: cause 'C9'"),
        ("symptoms", load.symptoms, "symptoms/S5/definition/conditions/0/signal", "speed", "entry S5: signal 'speed' is neither"),
        ("symptoms", load.symptoms, "symptoms/S2/definition/conditions/0/statistic", "mean", "entry S2.*count is required for events"),
        ("symptoms", load.symptoms, "symptoms/S6/definition/conditions/0/statistic", "count", "entry S6.*invalid for anything else"),
        ("symptoms", load.symptoms, "symptoms/S4/definition/not_with", {"S9": 60}, "entry S4: not_with names 'S9'"),
        ("symptoms", load.symptoms, "symptoms/S1/definition/remedies/0/action", "reboot", "entry S1: remedy 'reboot'"),
        (
            "symptoms",
            load.other_conditions,
            "others/unexplained/definition/not_with",
            {"S9": 60},
            "unexplained: not_with names 'S9'",
        ),
        ("causes", load.causes, "causes/C5/fixed_in/0/models", ["CX-9"], "entry C5: fixed_in names a model"),
        ("causes", load.causes, "causes/C1/remedies/0/action", "reboot", "entry C1: remedy 'reboot'"),
        ("causes", load.causes, "causes/C1/rules/0/signal", "speed", "entry C1: signal 'speed' is neither"),
        ("causes", load.causes, "causes/C1/rules/0/statistic", "count", "entry C1.*invalid for anything else"),
        ("walls", load.walls, "walls/offloaded_flows/signal", "speed", "entry offloaded_flows: 'speed' is not a field"),
        (
            "signals",
            load.event_signals,
            "events/lockups/before",
            {"reboot": "lockups"},
            "lockups: before maps the signal's own kinds",
        ),
        ("rnic_profiles", load.profiles, "profiles/CX-6/limits", {}, "entry CX-6: limits must be"),
        ("rnic_profiles", load.profiles, "profiles/CX-6/performance", {"like": "CX-9"}, "entry CX-6, performance"),
        ("rnic_profiles", load.firmware_families, "firmware_families", ["Acme"], r"that no profile has: \['Acme'\]"),
        ("walls", load.walls, "walls", ["offloaded_flows"], "expected a mapping of id to entry"),
        ("behaviours", load.behaviours, "behaviours/B2/applies_to", ["CX-9"], "entry B2: neither a profile nor a variant: CX-9"),
        ("behaviours", load.behaviours, "behaviours/B4/confirmed_by", ["speed"], "entry B4: confirmed_by must name signals"),
        ("behaviours", load.behaviours, "behaviours/B6/seen_in", "telemetry", "entry B6.*(?s:.)*needs a definition"),
        ("behaviours", load.variants, "variants/CX-4 Lx/profile", "CX-6", "variant CX-4 Lx: its ids must be among those"),
        ("behaviours", load.contradictions, "contradictions/unanswered_marks/effect", ["speed"], "unanswered_marks: not a counter of rnic"),
        (
            "behaviours",
            load.contradictions,
            "contradictions/unanswered_marks/effect",
            ["rate_gbps"],
            "unanswered_marks: not a counter of rnic",
        ),
        ("behaviours", load.contradictions, "contradictions/silent_read_drops/models", ["CX-9"], "silent_read_drops: neither a profile"),
        (
            "behaviours",
            load.contradictions,
            "contradictions/silent_read_drops/effect",
            ["peers.duplicate_request"],
            "silent_read_drops.*(?s:.)*must be a counter of the RNIC itself",
        ),
    ],
)
def test_a_mistake_in_a_file_is_refused_with_its_entry(
    monkeypatch: pytest.MonkeyPatch, file: str, read: Callable[[], object], place: str, value: object, message: str
) -> None:
    for earlier in (load.symptoms, load.other_conditions, load.causes, load.profiles):
        earlier()  # what the entry is checked against has no mistake
    written = load._read

    def with_mistake(name: str) -> Body:
        raw = copy.deepcopy(written(name))
        if name == f"{file}.yaml":
            put(place, value, raw)
        return raw

    monkeypatch.setattr(load, "_read", with_mistake)
    with pytest.raises(RegistryError, match=message):
        read.__wrapped__()  # type: ignore[attr-defined]  # past the cache


def test_a_device_id_of_two_profiles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = dict(load.profiles())
    profiles["CX-7"] = profiles["CX-7"].model_copy(update={"pci_ids": profiles["CX-6"].pci_ids[-1:]})
    monkeypatch.setattr(load, "profiles", lambda: profiles)
    with pytest.raises(RegistryError, match=f"{profiles['CX-7'].pci_ids[0]} belongs to CX-6 and to CX-7"):
        load._profile_index.__wrapped__()


def test_an_event_counts_before_others_of_its_own_kinds_only() -> None:
    for name, signal in load.event_signals().items():
        assert set(signal.before) <= set(signal.kinds), name
        assert set(signal.before.values()) <= set(load.event_signals()), name


def grouping() -> Body:
    return load._read("grouping.yaml")


@pytest.mark.parametrize(
    ("symptoms", "leads", "message"),
    [
        (["S1", "S1"], None, "S1 is listed as related to itself"),
        (["S1", "S4"], "S5", "leads must be S1 or S4, not S5"),
        (["S1", "S4"], "S1", ""),
        (["S1", "S4"], "S4", ""),
        (["S1", "S4"], None, ""),
    ],
)
def test_two_different_symptoms_are_related_and_one_of_them_leads(symptoms: list[str], leads: str | None, message: str) -> None:
    raw = grouping() | {"related": [{"symptoms": symptoms, "leads": leads, "reach": "rnic", "why": "x"}]}
    if message:
        with pytest.raises(ValueError, match=message):
            Grouping.model_validate(raw)
    else:
        assert Grouping.model_validate(raw).related[0].leads == leads


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        (partial(put, "window_s", 0), False),
        (partial(put, "window_s", 1), True),
        (partial(put, "min_posterior", 0.0), False),
        (partial(put, "min_posterior", 1.0), False),
        (partial(put, "rack/hosts", 1), False),
        (partial(put, "rack/hosts", 2), True),
        (partial(put, "fleet/window_s", 0), False),
        (partial(put, "fleet/window_s", 1), True),
        (partial(put, "inhibitors/0/before_s", -1), False),
        (partial(put, "inhibitors/0/before_s", 0), True),
        (partial(put, "inhibitors/0/after_s", -1), False),
        (partial(put, "inhibitors/0/after_s", 0), True),
    ],
)
def test_numbers_of_grouping_have_bounds(change: Callable[[Body], None], valid: bool) -> None:
    raw = grouping()
    change(raw)
    if valid:
        Grouping.model_validate(raw)
    else:
        with pytest.raises(ValueError, match="Input should be"):
            Grouping.model_validate(raw)


CONDITION: Body = {
    "signal": "reoffload_ratio", "window_s": 15, "statistic": "mean", "raise": {"at_least": 0.2}, "text": "x",
}  # fmt: skip


@pytest.mark.parametrize(
    ("role", "clears", "group", "message"),
    [
        ("required", True, None, ""),
        ("required", True, "x", ""),
        ("required", False, None, "`clear` is required"),
        ("gate", False, None, ""),
        ("gate", False, "x", ""),
        ("gate", True, None, "invalid for others"),
        ("supporting", False, None, ""),
        ("supporting", False, "x", "has no alternatives"),
        ("supporting", True, None, "invalid for others"),
    ],
)
def test_required_conditions_clear_and_supporting_ones_have_no_alternatives(
    role: str, clears: bool, group: str | None, message: str
) -> None:
    raw = CONDITION | {"role": role, "any": group, "why": "x"} | ({"clear": {"below": 0.1}} if clears else {})
    if message:
        with pytest.raises(ValueError, match=message):
            Condition.model_validate(raw)
    else:
        Condition.model_validate(raw)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("change/below", 3, "exactly one of below"),
        ("change", {"signal": "x", "expected": "x", "within_s": 1, "for_s": 0, "text": "x"}, "exactly one of below"),
        ("change/at_most_param", "max_ports", "names 'max_ports', which is not a required parameter"),
        ("change/at_most_param", "speed", "names 'speed', which is not a required parameter"),
        ("without_incident", "S1", "names 'S1', which is not among the symptoms"),
        ("disturbs/symptoms", ["S1", "S7"], "S7 must be raised whatever runs"),
    ],
)
def test_a_remedy_is_proven_by_one_check_of_what_it_has(place: str, value: object, message: str) -> None:
    raw = load._read("remedies.yaml")["remedies"]["cap-encap-contexts"] | {"id": "cap-encap-contexts"}
    raw["disturbs"] = {"symptoms": ["S1"], "why": "x"}
    RemedyAction.model_validate(raw)
    raw["params"].setdefault("max_ports", {})["required"] = False
    put(place, value, raw)
    with pytest.raises(ValueError, match=message):
        RemedyAction.model_validate(raw)


@pytest.mark.parametrize("raw", [None, [], {}, {"topics": None}, {"topics": []}, {"measurements": []}])
def test_registries_without_their_mapping_are_refused_with_their_file(raw: object) -> None:
    with pytest.raises(RegistryError, match=r"^metrics\.yaml: the top level must be a mapping with the key 'measurements'"):
        parse_measurements(raw)
    with pytest.raises(RegistryError, match=r"^topics\.yaml: the top level must be a mapping with the keys 'defaults' and 'topics'"):
        parse_topics(raw)


def test_a_tag_of_a_column_is_among_the_tags() -> None:
    body: Body = {"meaning": "x", "of": "host", "hypertable": "h", "key_tags": ["a"], "tags": {"a": "x"}, "fields": {}}
    assert parse_measurements({"measurements": {"m": body | {"text_columns": ["a"]}}})["m"].text_columns == ("a",)
    for place in ("key_tags", "text_columns", "number_columns"):
        with pytest.raises(RegistryError, match="b: not among the tags of m"):
            parse_measurements({"measurements": {"m": body | {place: ["b"]}}})


def test_a_measurement_without_a_hypertable_stores_no_field_and_one_with_it_stores_each() -> None:
    field = {"type": "int", "kind": "counter", "unit": "bytes", "source": "s", "label": "l"}
    body: Body = {"meaning": "x", "of": "rnic", "key_tags": ["a"], "tags": {"a": "x"}}
    raw = parse_measurements({"measurements": {"m": body | {"fields": {"f": field | {"stored": "none"}}}}})["m"]
    with pytest.raises(RegistryError, match="m has no hypertable: only a job reads its messages"):
        _ = raw.table
    for stored in ("column", "other"):
        with pytest.raises(RegistryError, match="m has no hypertable, so its fields are `stored: none`: f"):
            parse_measurements({"measurements": {"m": body | {"fields": {"f": field | {"stored": stored}}}}})
    with pytest.raises(RegistryError, match="m has a hypertable that keeps its fields: f"):
        parse_measurements({"measurements": {"m": body | {"hypertable": "h", "fields": {"f": field | {"stored": "none"}}}}})
