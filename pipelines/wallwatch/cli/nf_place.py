"""`wallwatch nf place`: assign network functions to cards so that each keeps its SLA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli.native_output import native_output_on_stderr
from wallwatch.cli.nf_functions import read_cards, read_functions
from wallwatch.cli.nf_input import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wallwatch.domain.contention.placement import Placed

OPTIMUM = "optimum"
SECONDS = 5.0
"""For the integer program, which mostly takes a tenth of it; what it has by then is at least as good as placing one by one."""


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("place")(place)


def place(
    nfs: Path = typer.Option(metavar="FILE", help="JSON list of functions in the order of arrival"),
    nics: Path = typer.Option(metavar="FILE", help="JSON list of cards, or {cores, count}"),
    policy: str = typer.Option(OPTIMUM, help="optimum: the whole batch at once; or one by one: fullest, greedy, monopolise"),
    margin: float = typer.Option(0.0, min=0.0, max=0.5, help="predicted drops must stay this share of solo throughput below the SLA"),
    risk: float = typer.Option(
        0.01,
        min=0.0,
        max=1.0,
        help="of predictions with errors (measurements, drop_error): expected share of a batch's functions that break their SLA",
    ),
    measure: int = typer.Option(0, min=0, max=100_000, metavar="N", help="name up to N measurements that would make the assignment surer"),
    as_json: bool = typer.Option(False, "--json", help="print the assignment as JSON"),
) -> None:
    """Assign functions to cards so that no resident loses more than its SLA allows (Yala, section 7.5.1).

    Exit code 2: invalid input. Exit code 1: the cards do not suffice; functions without a place are listed.
    """
    from wallwatch.domain.contention import batch_placement, placement
    from wallwatch.domain.contention.sharing import Batch, Resident, drops_of
    from wallwatch.domain.contention.worth_measuring import DARING, next_measurements

    if policy not in (*placement.Policy, OPTIMUM):
        refuse("place", f"--policy must be {', '.join(placement.Policy)} or {OPTIMUM}, not {policy}")
    residents: dict[placement.Kind, Resident] = {}
    arrivals = read_functions(nfs, residents)
    cards = read_cards(nics)

    def drops(kinds: tuple[placement.Kind, ...]) -> list[float]:
        return drops_of([residents[kind] for kind in kinds])

    def many(kinds: Sequence[placement.Kind], combinations: batch_placement.Places) -> batch_placement.Array:
        return Batch([residents[kind] for kind in kinds]).drops(combinations)

    def chances(kinds: Sequence[placement.Kind], combinations: batch_placement.Places) -> batch_placement.Array:
        return Batch([residents[kind] for kind in kinds]).chances(combinations)

    measured = any(resident.memory_errors for resident in residents.values())
    feasible = placement.Feasibility(drops, cards.cores, margin, many, chances if measured else None)
    bound = None
    try:
        if policy == OPTIMUM:
            with native_output_on_stderr():
                found, bound = batch_placement.fewest_cards(arrivals, feasible, SECONDS, risk)
            found = _only_present(found, cards.count)
        else:
            found = placement.place(arrivals, feasible, placement.Policy(policy), cards.count)
    except ValueError as problem:
        refuse("place", str(problem))
    answer: dict[str, Any] = {
        "assignment": [
            {"nf": kind.name, "nic": None if at is None else cards.name(at)} for kind, at in zip(arrivals, found.assignment, strict=True)
        ],
        "nics_used": len(found.cards),
        "expected_violations": round(sum(feasible.expected_violations(card) for card in found.cards), 3),
        "unplaced": sum(at is None for at in found.assignment),
        "lower_bound": bound,
    }
    if measure:
        with native_output_on_stderr():
            daring, _ = batch_placement.fewest_cards(arrivals, feasible, SECONDS, max(risk, DARING))
        answer["measure_next"] = [
            {"nf": one.function, "memory_load": one.memory_load, "repeats": one.repeats}
            for one in next_measurements(daring.cards, residents, measure)
        ]
    typer.echo(orjson.dumps(answer).decode() if as_json else _text(answer))
    if answer["unplaced"]:
        typer.echo(f"wallwatch nf place: {answer['unplaced']} functions have no place: add cards or relax their SLAs", err=True)
        raise typer.Exit(1)


def _only_present(found: Placed, count: int | None) -> Placed:
    """Without the cards beyond those that exist."""
    from wallwatch.domain.contention.placement import Placed

    if count is None or len(found.cards) <= count:
        return found
    return Placed(found.cards[:count], tuple(None if at is None or at >= count else at for at in found.assignment))


def _text(answer: dict[str, Any]) -> str:
    by_card: dict[str, list[str]] = {}
    for row in answer["assignment"]:
        by_card.setdefault(row["nic"] or "no card", []).append(row["nf"])
    lines = [f"{nic}: {', '.join(functions)}" for nic, functions in by_card.items()]
    bound = "" if answer["lower_bound"] is None else f" (at least {answer['lower_bound']} are required)"
    lines.append(f"{answer['nics_used']} cards{bound}, {answer['expected_violations']} expected violations")
    for one in answer.get("measure_next", []):
        beside = "alone" if one["memory_load"] == 0 else f"next to a load of {one['memory_load']:g}"
        lines.append(f"measure {one['nf']} {beside}, {one['repeats']} times")
    return "\n".join(lines)
