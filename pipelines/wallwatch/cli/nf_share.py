"""`wallwatch nf share`: what each function gets of an accelerator that serves queues in turn."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import Any

import orjson
import typer

from wallwatch.cli.nf_input import cases_of, number, read_json, refuse


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("share")(share)


def share(
    file: Path = typer.Argument(metavar="FILE", help='JSON {"functions": [{"n", "t", "rate"}]} or a list of such; - is stdin'),
    as_json: bool = typer.Option(False, "--json", help="print throughput_per_us of each case"),
) -> None:
    """Compute the share of each function of a round-robin accelerator (Yala, section 4.1.1, with queues that run empty).

    n is the number of queues, t the time per request in us, rate the offered requests per us over all queues; without rate (or null) the
    queues are always full. Exit code 2: invalid input.
    """
    body = read_json("share", file)
    cases = cases_of("share", file, body)
    answers = [{"throughput_per_us": _shares(f"{file}: case {at}", case)} for at, case in enumerate(cases)]
    if as_json:
        typer.echo(orjson.dumps(answers if isinstance(body, list) else answers[0]).decode())
        return
    for at, answer in enumerate(answers):
        typer.echo(f"case {at}")
        for place, rate in enumerate(answer["throughput_per_us"]):
            typer.echo(f"  {place:>3} {rate:>12.6g} per us")


def _shares(where: str, case: dict[str, Any]) -> list[float]:
    from wallwatch.domain.contention.round_robin import BadQueues, EngineUser, throughput

    functions = case.get("functions")
    if not isinstance(functions, list) or not all(isinstance(function, dict) for function in functions):
        refuse("share", f"{where}: functions must be a list of objects with n, t and optionally rate")
    users = []
    for at, function in enumerate(functions):
        place = f"{where}: function {at}"
        queues, time = number("share", place, function, "n", low=1), number("share", place, function, "t")
        rate = inf if function.get("rate") is None else number("share", place, function, "rate")
        try:
            users.append(EngineUser(int(queues) if queues.is_integer() else queues, time, rate))  # type: ignore[arg-type]  # refused below
        except BadQueues as problem:
            refuse("share", f"{place}: {problem}")
    shares = throughput(users)
    if not all(map(isfinite, shares)):
        refuse("share", f"{where}: t is too small for a share that is a number: times are in us")
    return shares
