"""Symptoms with their definitions, in the words of the domain's catalogue."""

from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.behaviour_models import Behaviour
from wallwatch_backend.fleet.catalogue.schemas import (
    BehaviourInfo,
    BoundInfo,
    ConditionInfo,
    CriticalWhen,
    DefinitionInfo,
    DefinitionRemedy,
    KnownModel,
    SymptomInfo,
)


def label_and_unit(signal: str) -> tuple[str, str]:
    return load.known_signals().get(signal, (signal, ""))


def _bound(bound: Any) -> BoundInfo:
    return BoundInfo(at_least=bound.at_least, at_most=bound.at_most, above=bound.above, below=bound.below)


def _definition(definition: Any) -> DefinitionInfo:
    conditions = []
    for one in definition.conditions:
        label, unit = label_and_unit(one.signal)
        conditions.append(
            ConditionInfo(
                signal=one.signal,
                label=label,
                unit=unit,
                role=one.role,
                alternative=getattr(one, "any", None),
                window_s=one.window_s,
                statistic=one.statistic,
                **{"raise": _bound(one.raise_)},
                clear=_bound(one.clear) if one.clear is not None else None,
                text=one.text,
            )
        )
    critical = []
    for bound in definition.critical_when:
        label, unit = label_and_unit(bound.signal)
        critical.append(CriticalWhen(signal=bound.signal, label=label, unit=unit, **_bound(bound).model_dump()))
    return DefinitionInfo(
        rule=definition.rule,
        blast_radius=definition.blast_radius,
        severity=getattr(definition, "severity", "warning"),
        raise_for_s=definition.raise_for_s,
        clear_for_s=definition.clear_for_s,
        conditions=conditions,
        critical_when=critical,
        not_with=dict(getattr(definition, "not_with", {})),
        summary=definition.summary,
        remedies=[DefinitionRemedy(action=one.action, why=one.why) for one in definition.remedies],
    )


def _info(one: Any) -> SymptomInfo:
    return SymptomInfo(
        id=one.id,
        title=one.title,
        layer=getattr(one, "layer", None),
        ratio=getattr(one, "ratio", None),
        cause=getattr(one, "cause", None),
        looks_like=one.looks_like,
        near_misses=list(one.near_misses),
        definition=_definition(one.definition) if one.definition is not None else None,
        behaviour=_behaviour(one) if isinstance(one, Behaviour) else None,
    )


def _behaviour(one: Behaviour) -> BehaviourInfo:
    return BehaviourInfo(
        seen_in=one.seen_in,
        known_on=[KnownModel.model_validate(known.model_dump()) for known in one.known_on],
        applies_to=list(one.applies_to),
        advice=one.advice,
        ticket=one.ticket,
    )


def all_symptoms() -> list[SymptomInfo]:
    """S1 to S8, behaviours B1 to B8, then what is none of them."""
    return [_info(one) for one in (*load.symptoms().values(), *load.behaviours().values(), *load.other_conditions().values())]
