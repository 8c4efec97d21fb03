"""The catalogue, from the domain's YAML; it does not change while the process runs."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.isolation import words
from wallwatch.domain.telemetry.registry import stored_measurements
from wallwatch_backend.fleet.catalogue.schemas import (
    Catalogue,
    CauseInfo,
    DomainCatalogue,
    FieldInfo,
    IsolationWords,
    SignalInfo,
    StateMachines,
    WallInfo,
    WordInfo,
)
from wallwatch_backend.fleet.catalogue.symptoms import all_symptoms


def _signals() -> list[SignalInfo]:
    return [SignalInfo(signal=signal, label=label, unit=unit) for signal, (label, unit) in load.known_signals().items()]


def _words(listed: Iterable[words.Word]) -> list[WordInfo]:
    return [WordInfo(id=word.id, label=word.label, meaning=word.meaning) for word in listed]


def get_catalogue(states: StateMachines, *, brief: bool = False) -> Catalogue:
    """Return the catalogue; with `brief` a fifth of its size, as every page of the UI needs it before it shows anything."""
    return Catalogue(**dict(_brief_catalogue() if brief else _domain_catalogue()), states=states)


@cache
def _brief_catalogue() -> DomainCatalogue:
    whole = _domain_catalogue()
    no_details: dict[str, Any] = {"looks_like": None, "near_misses": [], "definition": None, "behaviour": None}
    symptoms = [symptom.model_copy(update=no_details) for symptom in whole.symptoms]
    return whole.model_copy(update={"symptoms": symptoms, "signals": [], "fields": []})


@cache
def _domain_catalogue() -> DomainCatalogue:
    return DomainCatalogue(
        symptoms=all_symptoms(),
        causes=[
            CauseInfo(
                id=c.id,
                title=c.title,
                prior=c.prior,
                statement=c.statement,
                next_test=c.next_test,
                explains=dict(c.explains),
                settled_by_upgrade=c.settled_by_upgrade,
                remedies=[each.action for each in c.remedies],
            )
            for c in load.causes().values()
        ],
        walls=[WallInfo(id=w.id, label=w.label, unit=w.unit, signal=w.signal, leads_to=list(w.leads_to)) for w in load.walls().values()],
        models=list(load.profiles()),
        signals=_signals(),
        fields=[
            FieldInfo(name=f.name, measurement=m.name, label=f.label, unit=f.unit, kind=f.kind, meaning=f.meaning)
            for m in stored_measurements().values()
            for f in m.fields.values()
        ],
        isolation=IsolationWords(states=_words(words.STATES), mechanisms=_words(words.MECHANISMS), roles=_words(words.ROLES)),
    )
