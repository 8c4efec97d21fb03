"""`wallwatch vnic shares`: exact fair ingress shares of the VFs of RNICs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli.vnic_input import BAD_INPUT, as_float, read_json, refuse

if TYPE_CHECKING:
    from wallwatch.domain.isolation.shares.water_filling import Request

FIELDS = ("min_mbps", "max_mbps", "active")


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("shares")(shares)


def shares(
    file: Path = typer.Argument(metavar="FILE", help="JSON list of {capacity_mbps, min_mbps, max_mbps, active}, one per RNIC; - is stdin"),
    as_json: bool = typer.Option(False, "--json", help="print the same list with share_mbps"),
    reclaim_idle: bool = typer.Option(False, "--reclaim-idle", help="report what reclaiming the minima of inactive VFs would free"),
) -> None:
    """Compute the exact fair ingress share of every VF (PicNIC, section 5.3.1).

    min_mbps, max_mbps and active are lists with one value per VF. Exit code 2: invalid input, or minima that exceed the capacity.
    """
    read = read_json("shares", file)
    cases = [read] if isinstance(read, dict) else read
    if not isinstance(cases, list):
        refuse("shares", f"{file}: a list of cases is required")
    requests = [_requests(f"{file}: case {at}", case) for at, case in enumerate(cases)]
    answers = [_answer(case, wanted, reclaim_idle) for case, wanted in zip(cases, requests, strict=True)]
    if as_json:
        typer.echo(orjson.dumps(answers[0] if isinstance(read, dict) else answers, default=as_float).decode())
    else:
        typer.echo("\n\n".join(_text(at, answer) for at, answer in enumerate(answers)))
    bad = [(at, answer["error"]) for at, answer in enumerate(answers) if "error" in answer]
    for at, problem in bad:
        typer.echo(f"wallwatch vnic shares: {file}: case {at}: {problem}", err=True)
    if bad:
        raise typer.Exit(BAD_INPUT)


def _requests(where: str, case: Any) -> list[Request]:
    """The case's VFs; refuses what does not have the documented shape."""
    from wallwatch.domain.isolation.shares.water_filling import Request

    if not isinstance(case, dict):
        refuse("shares", f"{where}: an object with capacity_mbps, {', '.join(FIELDS)} is required")
    if not _is_number(case.get("capacity_mbps")):
        refuse("shares", f"{where}: capacity_mbps must be a number")
    columns = {name: case.get(name) for name in FIELDS}
    if columns["active"] is None:
        columns["active"] = [True] * len(columns["max_mbps"]) if isinstance(columns["max_mbps"], list) else True
    lists = {name: column if isinstance(column, list) else [column] for name, column in columns.items()}
    for name, column in lists.items():
        fits = _is_flag if name == "active" else _is_number
        for at, value in enumerate(column):
            if not fits(value):
                wanted = "true or false" if name == "active" else "a number"
                refuse("shares", f"{where}: {name} of VF {at} must be {wanted}")
    lengths = {name: len(column) for name, column in lists.items()}
    if len(set(lengths.values())) > 1:
        refuse(
            "shares", f"{where}: one value per VF is required in each of {', '.join(f'{name} ({size})' for name, size in lengths.items())}"
        )
    return [Request(low, high, bool(active)) for low, high, active in zip(*lists.values(), strict=True)]


def _answer(case: dict[str, Any], requests: Sequence[Request], reclaim_idle: bool) -> dict[str, Any]:
    """The case with its shares; with `error` instead when it cannot be shared, so that the other cases are answered."""
    from wallwatch.domain.isolation.shares.water_filling import BadRequest, fair_shares, idle_minima, reclaimed

    capacity = case["capacity_mbps"]
    answer = dict(case)
    try:
        answer["share_mbps"] = [float(share) for share in fair_shares(capacity, requests)]
        if reclaim_idle:
            answer["reclaimed_mbps"] = float(idle_minima(requests))
            answer["share_if_reclaimed_mbps"] = [float(share) for share in fair_shares(capacity, reclaimed(requests))]
    except BadRequest as problem:
        answer["share_mbps"] = None
        answer["error"] = str(problem)
    if answer["share_mbps"] is not None and not isinstance(case["max_mbps"], list):
        answer.update({name: answer[name][0] for name in ("share_mbps", "share_if_reclaimed_mbps") if name in answer})
    return answer


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or (_is_number(value) and value in (0, 1))


def _text(at: int, answer: dict[str, Any]) -> str:
    lines = [f"case {at}: capacity {float(answer['capacity_mbps']):g} Mbit/s"]
    if "error" in answer:
        return "\n".join([*lines, f"  {answer['error']}"])
    columns = [_column(answer, name) for name in ("min_mbps", "max_mbps", "share_mbps")]
    lines.append(f"  {'VF':>5} {'min':>10} {'max':>10} {'share':>12}  Mbit/s")
    lines += [f"  {vf:>5} {low:>10g} {high:>10g} {share:>12.6g}" for vf, (low, high, share) in enumerate(zip(*columns, strict=True))]
    if "reclaimed_mbps" in answer:
        after = ", ".join(f"{share:.6g}" for share in _column(answer, "share_if_reclaimed_mbps"))
        lines.append(f"  idle minima: {answer['reclaimed_mbps']:g} Mbit/s would be freed; shares would be {after}")
    return "\n".join(lines)


def _column(answer: dict[str, Any], name: str) -> list[float]:
    value = answer[name]
    return [float(one) for one in (value if isinstance(value, list) else [value])]
