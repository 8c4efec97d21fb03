"""Places a batch in a separate process: an integer program and thousands of predictions take seconds."""

from dataclasses import dataclass

import orjson

from wallwatch.domain.contention.batch import Assignment, BatchCard, BatchFunction, UnusableBatch, assign, node_affinity, present_assignment
from wallwatch.domain.contention.card import Occupant, Traffic
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch.domain.contention.placement import Policy
from wallwatch_backend.contention.placements.schemas import Affinity, CardPlan, FilledCard, PlacedFunction, PlacementPlan, PlacementRequest


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of one function, as plain data."""

    model: str
    own_load: list[dict[str, float]] | None
    cores: int
    sla_drop: float | None


def plan(body: PlacementRequest, known: dict[str, Knowledge]) -> PlacementPlan | str:
    """Return the assignment, or why there is none."""
    models = {name: FunctionModel.from_json(orjson.loads(each.model)) for name, each in known.items()}
    cards = [BatchCard(card.name, card.host or card.name.replace("/", " ").split()[0], card.cores) for card in body.cards]
    try:
        functions = _functions(body, known, models)
        policy = None if body.method == "optimum" else Policy(body.method)
        found = assign(functions, cards, policy, body.margin, body.cautious)
        present = present_assignment(functions)
    except UnusableBatch as problem:
        return str(problem)
    hosts = {card.name: card.host for card in cards}
    kinds = {name: function for function in body.functions for name in _names(function.name, function.count)}
    functions_of = {name: function.function for name, function in kinds.items()}
    planned = _shown(found, hosts, functions_of)
    return PlacementPlan(
        **planned.model_dump(),
        lower_bound=found.lower_bound,
        moves=sum(function.moved_from is not None for card in planned.cards for function in card.functions),
        present=None if present is None else _shown(present, hosts, functions_of),
        affinities=[
            Affinity(name=function.name, affinity=node_affinity(card.host)) for card in planned.cards for function in card.functions
        ],
    )


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def _functions(body: PlacementRequest, known: dict[str, Knowledge], models: dict[str, FunctionModel]) -> list[BatchFunction]:
    functions = []
    for function in body.functions:
        about = known[function.function]
        drop = about.sla_drop if function.sla_drop is None else function.sla_drop
        if drop is None:
            raise UnusableBatch(f"{function.name} has no SLA: set sla_drop, or the terms of {function.function}")
        traffic = Traffic(function.flows, function.packet_bytes, function.mtbr)
        counters = None if about.own_load is None else OwnLoad.from_json(about.own_load).at(function.flows)
        cores = about.cores if function.cores is None else function.cores
        functions += [
            BatchFunction(Occupant(name, traffic, models[function.function], counters), cores, drop, function.card)
            for name in _names(function.name, function.count)
        ]
    return functions


def _shown(found: Assignment, hosts: dict[str, str], functions: dict[str, str]) -> CardPlan:
    cards = []
    for name, seats in found.cards.items():
        placed = [
            PlacedFunction(
                name=seat.function.occupant.name,
                function=functions[seat.function.occupant.name],
                cores=seat.function.cores,
                solo_kpps=seat.outlook.solo,
                throughput_kpps=seat.outlook.throughput,
                drop=seat.outlook.drop,
                sla_drop=seat.function.most_drop,
                violates=seat.violates,
                chance=seat.chance,
                bottleneck=seat.outlook.bottleneck,
                moved_from=seat.function.card if seat.function.card not in (None, name) else None,
            )
            for seat in seats
        ]
        cards.append(FilledCard(name=name, host=hosts.get(name, name), functions=placed))
    unplaced = [function.occupant.name for function in found.unplaced]
    return CardPlan(
        cards=cards,
        cards_used=len(cards),
        violations=found.violations,
        expected_violations=found.expected_violations,
        unplaced=unplaced,
    )
