"""Reads and cross-checks the catalogue. It does not change while a process runs; what operators promoted in its place: `promoted`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from wallwatch.domain.catalogue import local_rules
from wallwatch.domain.catalogue.behaviour_models import PEERS, Behaviour, Contradiction, Variant
from wallwatch.domain.catalogue.contention import contention_rule
from wallwatch.domain.catalogue.isolation import isolation_rule
from wallwatch.domain.catalogue.models import (
    Cause,
    DerivedSignal,
    Detected,
    Entry,
    EventSignal,
    Limit,
    OtherCondition,
    Profile,
    Symptom,
    WallDefinition,
)
from wallwatch.domain.catalogue.remedy_models import RemedyAction
from wallwatch.domain.performance.formulas import masks_at_bandwidth_loss
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.telemetry.registry import RegistryError, measurements

E = TypeVar("E", bound=Entry)

GENERIC_LIKE = "CX-6"
"""The model whose performance is used for an unknown one: predictions are shares of the head's, which differ little between
models."""


def _read(name: str) -> dict[str, Any]:
    raw = yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    if not isinstance(raw, dict):
        raise RegistryError(f"{name}: the top level must be a mapping")
    return raw


def parse_entries(source: str, raw: Any, kind: type[E], with_id: bool = True) -> dict[str, E]:
    """Validate a mapping of id to entry; the error names the file, the entry and the field."""
    if not isinstance(raw, Mapping):
        raise RegistryError(f"{source}: expected a mapping of id to entry")
    found: dict[str, E] = {}
    for key, body in raw.items():
        try:
            found[key] = kind.model_validate({**body, "id": key} if with_id else body)
        except (ValidationError, TypeError) as error:
            raise RegistryError(f"{source}, entry {key}: {error}") from error
    return found


@cache
def symptoms() -> dict[str, Symptom]:
    """S1..S8.

    >>> round(sum(s.ratio for s in symptoms().values()), 3)
    1.0
    """
    found = parse_entries("symptoms.yaml", _read("symptoms.yaml").get("symptoms"), Symptom)
    for symptom in found.values():
        if symptom.cause not in causes():
            raise RegistryError(f"symptoms.yaml, entry {symptom.id}: cause {symptom.cause!r} is not in causes.yaml")
        _check_definition(symptom, found)
    return found


@cache
def other_conditions() -> dict[str, OtherCondition]:
    """`contention`, `isolation`, `unexplained` and `silent`.

    >>> sorted(other_conditions())
    ['contention', 'isolation', 'silent', 'unexplained']
    """
    found = parse_entries("symptoms.yaml", _read("symptoms.yaml").get("others"), OtherCondition)
    unexplained = found["unexplained"]
    found["unexplained"] = unexplained.model_copy(update={"also": (*unexplained.also, *local_rules.in_force())})
    for condition in found.values():
        for entry in (condition, *condition.rules()):
            _check_definition(entry, symptoms())
            if unknown := set(entry.models) - set(profiles()):
                raise RegistryError(f"{entry.id}: not a profile: {', '.join(sorted(unknown))}")
    return found


@cache
def behaviours() -> dict[str, Behaviour]:
    """B1..B8 of transport engines.

    >>> [b.id for b in behaviours().values() if b.seen_in == "captures"]
    ['B6', 'B7']
    """
    found = parse_entries("behaviours.yaml", _read("behaviours.yaml").get("behaviours"), Behaviour)
    for behaviour in found.values():
        _check_definition(behaviour, symptoms(), "behaviours.yaml")
        signals = {c.signal for c in behaviour.definition.conditions} if behaviour.definition is not None else set()
        pair = behaviour.interoperability
        named = {*behaviour.applies_to, *(known.model for known in behaviour.known_on)}
        named |= {*pair.senders, *pair.receivers} if pair is not None else set()
        if unknown := named - set(profiles()) - set(variants()):
            raise RegistryError(f"behaviours.yaml, entry {behaviour.id}: neither a profile nor a variant: {', '.join(sorted(unknown))}")
        if not set(behaviour.confirmed_by) <= signals:
            raise RegistryError(f"behaviours.yaml, entry {behaviour.id}: confirmed_by must name signals of its conditions")
    return found


@cache
def variants() -> dict[str, Variant]:
    """Cards that behave unlike the others of their profile."""
    found = parse_entries("behaviours.yaml", _read("behaviours.yaml").get("variants"), Variant, with_id=False)
    for name, variant in found.items():
        profile = profiles().get(variant.profile)
        if profile is None or not set(variant.pci_ids) <= set(profile.pci_ids) or not set(variant.hca_types) <= set(profile.hca_types):
            raise RegistryError(f"behaviours.yaml, variant {name}: its ids must be among those of the profile {variant.profile!r}")
    return found


@cache
def variant_of(pci_id: str | None, hca_type: str | None) -> str | None:
    """The variant's name where the catalogue has one for a device, else its profile's; None for a device that it does not have.

    >>> variant_of("15b3:1015", None), variant_of("15b3:1017", None), variant_of(None, "MT4125"), variant_of("8086:10fb", None)
    ('CX-4 Lx', 'CX-5', 'CX-6 Dx', None)
    """
    pci = (pci_id or "").lower()
    for name, variant in variants().items():
        if pci in variant.pci_ids or (not pci and hca_type in variant.hca_types):
            return name
    return model_of(pci_id, hca_type)


@cache
def contradictions() -> dict[str, Contradiction]:
    """Pairs of counters of which the second must move when the first one does, by the name of their signal."""
    found = parse_entries("behaviours.yaml", _read("behaviours.yaml").get("contradictions"), Contradiction, with_id=False)
    counters = {f.name for f in measurements()["rnic"].fields.values() if f.kind == "counter"}
    for name, pair in found.items():
        unknown = {counter.removeprefix(PEERS) for counter in (*pair.cause, *pair.effect)} - counters
        if unknown:
            raise RegistryError(f"behaviours.yaml, contradiction {name}: not a counter of rnic: {', '.join(sorted(unknown))}")
        if wrong := set(pair.models) - set(profiles()) - set(variants()):
            raise RegistryError(f"behaviours.yaml, contradiction {name}: neither a profile nor a variant: {', '.join(sorted(wrong))}")
    return found


@cache
def detected() -> dict[str, Detected]:
    """Everything that the symptom stage detects, symptoms first, because later entries may depend on them."""
    further = (rule for condition in other_conditions().values() for rule in condition.rules())
    everything: dict[str, Detected] = {**symptoms(), **other_conditions(), **{rule.id: rule for rule in further}, **behaviours()}
    return {name: entry for name, entry in everything.items() if entry.definition is not None}


def clear_for_s(symptom: str) -> float:
    """How long a symptom's conditions must be gone until it clears, seconds; 0 for a symptom without such a time.

    >>> clear_for_s("S5") > 0, clear_for_s("isolation"), clear_for_s("silent")
    (True, 300.0, 0.0)
    """
    if symptom == "isolation":
        return isolation_rule().clear_s
    if symptom == "contention":
        return contention_rule().clear_min * 60
    entry = {**symptoms(), **other_conditions(), **behaviours()}.get(symptom)
    return float(entry.definition.clear_for_s) if entry is not None and entry.definition is not None else 0.0


def _check_definition(entry: Detected, all_symptoms: Mapping[str, Symptom], source: str = "symptoms.yaml") -> None:
    if entry.definition is None:
        return
    where = f"{source}, entry {entry.id}"
    for condition in entry.definition.conditions:
        if condition.signal not in known_signals():
            raise RegistryError(f"{where}: signal {condition.signal!r} is neither a field of rnic_offload or rnic nor in signals.yaml")
        if (condition.statistic == "count") != (condition.signal in event_signals()):
            raise RegistryError(
                f"{where}: signal {condition.signal!r}: statistic: count is required for events, and invalid for anything else"
            )
    for name in entry.definition.not_with:
        if name not in all_symptoms:
            raise RegistryError(f"{where}: not_with names {name!r}, which is not a symptom")
    for remedy in entry.definition.remedies:
        if remedy.action not in remedies():
            raise RegistryError(f"{where}: remedy {remedy.action!r} is not in remedies.yaml")


@cache
def causes() -> dict[str, Cause]:
    """C1..C8."""
    found = parse_entries("causes.yaml", _read("causes.yaml").get("causes"), Cause)
    for cause in found.values():
        for fix in cause.fixed_in:
            if not set(fix.models) <= set(profiles()):
                raise RegistryError(
                    f"causes.yaml, entry {cause.id}: fixed_in names a model that rnic_profiles.yaml does not have: {fix.models}"
                )
        for remedy in cause.remedies:
            if remedy.action not in remedies():
                raise RegistryError(f"causes.yaml, entry {cause.id}: remedy {remedy.action!r} is not in remedies.yaml")
        for rule in cause.rules:
            if (rule.statistic == "count") != (rule.signal in event_signals()):
                raise RegistryError(
                    f"causes.yaml, entry {cause.id}: {rule.signal!r}: "
                    "statistic: count is required for events, and invalid for anything else"
                )
            if rule.signal not in known_signals():
                raise RegistryError(
                    f"causes.yaml, entry {cause.id}: signal {rule.signal!r} is neither a field of rnic_offload or rnic nor in signals.yaml"
                )
    return found


@cache
def unexplained_probability() -> float:
    """Probability of a symptom under a cause that is not known to produce it."""
    return float(_read("causes.yaml")["unexplained"])


@cache
def prior_factors() -> tuple[float, float]:
    """Factor for a cause's prior where a fix is installed, and on models not known to have it."""
    raw = _read("causes.yaml")
    return float(raw["repaired"]), float(raw["other_vendor"])


@cache
def walls() -> dict[str, WallDefinition]:
    """The five walls, in the order in which they are shown."""
    found = parse_entries("walls.yaml", _read("walls.yaml").get("walls"), WallDefinition)
    for wall in found.values():
        if wall.signal not in measurements()["rnic_offload"].fields:
            raise RegistryError(f"walls.yaml, entry {wall.id}: {wall.signal!r} is not a field of rnic_offload")
    return found


@cache
def remedies() -> dict[str, RemedyAction]:
    """What can be done to a host."""
    return parse_entries("remedies.yaml", _read("remedies.yaml").get("remedies"), RemedyAction)


@cache
def internal_actions() -> dict[str, RemedyAction]:
    """Actions that Wallwatch itself requests from agents; users cannot request them, and they change nothing."""
    return parse_entries("remedies.yaml", _read("remedies.yaml").get("internal"), RemedyAction)


@cache
def derived_signals() -> dict[str, DerivedSignal]:
    """Signals that are derived from fields, those of contradictions among them."""
    found = parse_entries("signals.yaml", _read("signals.yaml").get("signals"), DerivedSignal, with_id=False)
    for name, pair in contradictions().items():
        found[name] = DerivedSignal.model_validate(
            {"label": pair.label, "unit": pair.unit, "meaning": pair.meaning, "from": "rnic", "window": "transport"}
        )
    return found


@cache
def event_signals() -> dict[str, EventSignal]:
    """Signals that count events."""
    found = parse_entries("signals.yaml", _read("signals.yaml").get("events"), EventSignal, with_id=False)
    for name, signal in found.items():
        if not set(signal.before) <= set(signal.kinds) or not set(signal.before.values()) <= set(found):
            raise RegistryError(
                f"signals.yaml, entry {name}: before maps the signal's own kinds to other signals of events, not {signal.before}"
            )
    return found


@cache
def known_signals() -> dict[str, tuple[str, str]]:
    """Signal -> (label, unit), for the fields of rnic_offload and rnic, the derived signals and the events."""
    found: dict[str, tuple[str, str]] = {}
    for measurement in ("rnic", "rnic_offload"):
        found.update({f.name: (f.label, f.unit) for f in measurements()[measurement].fields.values()})
    found.update({name: (signal.label, signal.unit) for name, signal in derived_signals().items()})
    found.update({name: (signal.label, "events") for name, signal in event_signals().items()})
    return found


@cache
def mask_loss_share() -> float:
    """The bandwidth decline, as a share, that defines the limit of masks."""
    return float(_read("rnic_profiles.yaml")["mask_limit"]["bandwidth_loss_share"])


@cache
def profiles() -> dict[str, Profile]:
    """RNIC models of the catalogue; the limits of masks are derived from each model's bandwidth surface. What operators promoted in their
    place: `promoted.profiles`.

    >>> profiles()["CX-6"].limits["egress_masks"].basis
    'model'
    """
    raw = _read("rnic_profiles.yaml")
    share = float(raw["mask_limit"]["bandwidth_loss_share"])
    source = f"{raw['mask_limit']['source']}; loss of {share:.0%}"
    bodies: dict[str, Any] = {}
    entries = raw.get("profiles") or {}
    for name, body in entries.items():
        try:
            like = body["performance"].get("like")
            basis, of = ("paper", raw["performance_source"]) if like is None else ("assumed", body["performance"]["source"])
            performance = Performance.model_validate(body["performance"] if like is None else entries[like]["performance"])
        except (ValidationError, KeyError, TypeError, AttributeError) as error:
            raise RegistryError(f"rnic_profiles.yaml, entry {name}, performance: {error}") from error
        derived = {
            f"{direction}_masks": Limit(
                value=masks_at_bandwidth_loss(performance, share, direction),
                basis="model" if like is None else "assumed",
                source=source if like is None else f"{source}; the model is that of {like}",
            ).model_dump()
            for direction in ("egress", "ingress")
        }
        bodies[name] = {
            "deletion_ms": raw["deletion_ms"],
            **body,
            "performance": performance.model_dump(),
            "performance_basis": basis,
            "performance_source": of if like is None else f"{like}'s parameters: {of}",
            "limits": {**derived, **body["limits"]},
        }
    found = parse_entries("rnic_profiles.yaml", bodies, Profile)
    for profile in found.values():
        if set(profile.limits) != set(walls()):
            raise RegistryError(f"rnic_profiles.yaml, entry {profile.id}: limits must be {sorted(walls())}, not {sorted(profile.limits)}")
    return found


@cache
def firmware_families() -> frozenset[str]:
    """Vendors whose firmware versions begin with a number for the card's family.

    >>> sorted(firmware_families())
    ['NVIDIA']
    """
    found = frozenset(_read("rnic_profiles.yaml").get("firmware_families") or ())
    unknown = found - {profile.vendor for profile in profiles().values()}
    if unknown:
        raise RegistryError(f"rnic_profiles.yaml: firmware_families names vendors that no profile has: {sorted(unknown)}")
    return found


@cache
def generic_profile() -> Profile:
    """What an unknown model is measured by: of each wall the lowest limit that any known model has, and the performance of the middling
    one.

    >>> generic_profile().limits["offloaded_flows"].basis
    'assumed'
    """
    known = profiles()
    source = "unknown model: the lowest limit of the models in the catalogue"
    limits = {wall: Limit(value=min(p.limits[wall].value for p in known.values()), basis="assumed", source=source) for wall in walls()}
    typical = known[GENERIC_LIKE]
    return typical.model_copy(
        update={
            "id": "generic",
            "title": "unknown model",
            "vendor": "",
            "pci_ids": (),
            "hca_types": (),
            "performance_basis": "assumed",
            "performance_source": f"unknown model: the parameters of {GENERIC_LIKE}",
            "limits": limits,
        }
    )


@cache
def _profile_index() -> dict[str, str]:
    index: dict[str, str] = {}
    for profile in profiles().values():
        for key in (*profile.pci_ids, *profile.hca_types):
            if key in index:
                raise RegistryError(f"rnic_profiles.yaml: {key} belongs to {index[key]} and to {profile.id}")
            index[key] = profile.id
    return index


def model_of(pci_id: str | None, hca_type: str | None) -> str | None:
    """The profile's id of a device, by PCI id first; None when the catalogue does not have it.

    >>> model_of("15b3:101D", None), model_of(None, "MT4129"), model_of("8086:10fb", None)
    ('CX-6', 'CX-7', None)
    """
    index = _profile_index()
    return index.get((pci_id or "").lower()) or index.get(hca_type or "")
