"""Predicts the functions of one card, and what happens if one more is added."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from wallwatch.domain.contention.card import ACCELERATOR, MEMORY, Card, Occupant, Outlook, headroom
from wallwatch.domain.contention.card import Traffic as DomainTraffic
from wallwatch.domain.contention.counters import Counters
from wallwatch.domain.contention.watch import KEEPS_UP
from wallwatch_backend.contention.models.occupants import KnownFunctions, known_functions
from wallwatch_backend.contention.predictions.schemas import (
    Admission,
    CardPrediction,
    Contributor,
    PredictedFunction,
    PredictionRequest,
    Resident,
)
from wallwatch_backend.kit.database import ReadSession


async def predict(session: ReadSession, body: PredictionRequest) -> CardPrediction:
    together = [*body.residents, *([] if body.candidate is None else [body.candidate])]
    known = await known_functions(
        session, (resident.function for resident in together if resident.function is not None), body.nic_model, body.firmware
    )
    return await asyncio.to_thread(_predicted, body, together, known)


def _predicted(body: PredictionRequest, together: Sequence[Resident], known: KnownFunctions) -> CardPrediction:
    functions = _functions(body.residents, known)
    admission = None
    if body.candidate is not None:
        admission = _admission(body.cores, _cores(together, known), _functions(together, known))
    return CardPrediction(cores=body.cores, cores_used=_cores(body.residents, known), functions=functions, admission=admission)


def _functions(residents: Sequence[Resident], known: KnownFunctions) -> list[PredictedFunction]:
    card = Card([_occupant(resident, known) for resident in residents])
    return [
        _shown(resident, resident.function, known, card.outlook(at))
        for at, resident in enumerate(residents)
        if resident.function is not None
    ]


def _occupant(resident: Resident, known: KnownFunctions) -> Occupant:
    traffic = DomainTraffic(resident.flows, resident.packet_bytes, resident.mtbr)
    counters = None if resident.counters is None else Counters(**resident.counters.model_dump())
    if resident.function is None:
        return Occupant(resident.name, traffic, counters=counters)
    occupant = known.occupant(resident.name, resident.function, traffic, counters)
    return replace(occupant, offered=inf if resident.offered_kpps is None else resident.offered_kpps)


def _shown(resident: Resident, function: str, known: KnownFunctions, outlook: Outlook) -> PredictedFunction:
    terms = known.terms[function]
    sla_drop = terms.sla_drop if resident.sla_drop is None else resident.sla_drop
    measured, offered = resident.measured_kpps, resident.offered_kpps
    expected = outlook.throughput if offered is None else min(outlook.throughput, offered)
    lost = outlook.drop
    if measured is not None and offered is not None and measured < KEEPS_UP * offered:
        lost = max(1.0 - measured / outlook.solo, 0.0)  # what is measured is better than what is predicted
    contributors = sorted(outlook.contributors.items(), key=lambda each: -each[1])
    return PredictedFunction(
        name=resident.name,
        function=function,
        version=known.versions[function].number,
        cores=terms.cores if resident.cores is None else resident.cores,
        throughput_kpps=outlook.throughput,
        low_kpps=outlook.low,
        high_kpps=outlook.high,
        solo_kpps=outlook.solo,
        measured_kpps=measured,
        offered_kpps=offered,
        deviation=None if measured is None or expected <= 0 else measured / expected - 1.0,
        drop=outlook.drop,
        worst_drop=outlook.worst_drop,
        sla_drop=sla_drop,
        sla_value=lost,
        headroom=None if sla_drop is None else headroom(lost, sla_drop),
        lost_memory_kpps=outlook.lost[MEMORY],
        lost_accelerator_kpps=outlook.lost[ACCELERATOR],
        bottleneck=outlook.bottleneck,
        binding=outlook.binding,
        shifts_at_mtbr=outlook.shifts_at_mtbr,
        contributors=[Contributor(name=name, kpps=kpps) for name, kpps in contributors],
        outside=list(outlook.outside),
        unknown_competitors=list(outlook.unknown),
    )


def _cores(residents: Sequence[Resident], known: KnownFunctions) -> int:
    return sum(_cores_of(resident, known) for resident in residents)


def _cores_of(resident: Resident, known: KnownFunctions) -> int:
    if resident.cores is not None:
        return resident.cores
    return 0 if resident.function is None else known.terms[resident.function].cores


def _admission(cores: int, used: int, functions: list[PredictedFunction]) -> Admission:
    reasons = []
    if used > cores:
        reasons.append(f"{used} cores are needed, and the card has {cores}.")
    for function in functions:
        if function.sla_drop is not None and function.drop > function.sla_drop:
            reasons.append(f"{function.name} would lose {function.drop:.1%}; it may lose {function.sla_drop:.1%}.")
    unknown = sorted({name for function in functions for name in function.unknown_competitors})
    if unknown:
        reasons.append(f"The own load of {', '.join(unknown)} is unknown, so nobody can say what the neighbours lose.")
    return Admission(admitted=not reasons, reasons=reasons, cores_used=used, functions=functions)
