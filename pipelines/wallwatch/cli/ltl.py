"""`wallwatch ltl ...`: check a formula, show its monitor, run it over a trace."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.ltl.kind import Checked
    from wallwatch.domain.ltl.monitor import Monitor

app = typer.Typer(help="Temporal logic: what a formula means, its monitor, and its verdicts on a trace.", no_args_is_help=True)

FORMULA = typer.Argument(help="such as 'G(FL_OFFLD -> X FE_CREATE)'; operators ! & | -> <-> X F G U W R, true, false")
STATES = typer.Option(20_000, help="maximum number of states of the monitor", min=1)


def _fail(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(2)


@contextmanager
def _problems_of(formula: str) -> Iterator[None]:
    """Turn an error in a formula into a message and exit code 2."""
    from wallwatch.domain.ltl.limits import TooComplex
    from wallwatch.domain.ltl.parse import SyntaxProblem

    try:
        yield
    except SyntaxProblem as problem:
        raise _fail(f"{formula}\n{' ' * problem.position}^\n{problem.message}") from None
    except TooComplex as problem:
        raise _fail(f"{problem} (`wallwatch ltl run --parts` can run it)") from None


def _checked(formula: str, states: int) -> Checked:
    from wallwatch.domain.ltl.kind import check
    from wallwatch.domain.ltl.limits import Limits

    with _problems_of(formula):
        return check(formula, Limits(states=states))


def _monitor(formula: str, states: int) -> Monitor:
    from wallwatch.domain.ltl.limits import Limits
    from wallwatch.domain.ltl.monitor import compiled

    with _problems_of(formula):
        return compiled(formula, Limits(states=states))


@app.command("check")
def check_formula(formula: str = FORMULA, as_json: bool = typer.Option(False, "--json"), states: int = STATES) -> None:
    """Print the formula's class, the size of its monitor, and what a violation looks like."""
    checked = _checked(formula, states)
    monitor, parts = checked.monitor, monitor_parts(checked.monitor)
    facts = {
        "formula": str(monitor.formula),
        "class": checked.kind.name,
        "safety": checked.kind.safety,
        "co_safety": checked.kind.co_safety,
        "monitorable": checked.kind.monitorable,
        "states": len(monitor.verdicts),
        "propositions": list(monitor.propositions),
        "initial_verdict": monitor.verdicts[0],
        "states_without_hope_of_a_verdict": sorted(monitor.hopeless),
        "violation": checked.words(),
        "conjuncts": parts,
    }
    if as_json:
        typer.echo(orjson.dumps(facts).decode())
        return
    typer.echo(f"formula       {facts['formula']}")
    typer.echo(f"class         {facts['class']}")
    typer.echo(f"states        {facts['states']}")
    typer.echo(f"propositions  {', '.join(monitor.propositions) or 'none'}")
    typer.echo(f"violation     {facts['violation']}")
    if monitor.hopeless:
        typer.echo(f"note          {len(monitor.hopeless)} states can no longer reach a verdict; a subject in one of them is retired")
    if parts:
        typer.echo(f"note          its {len(parts)} parts can be monitored separately; the whole formula may reach a verdict earlier")


def monitor_parts(monitor: Monitor) -> list[str]:
    """The parts of a conjunction; empty when the formula is not a conjunction."""
    parts = monitor.formula.conjuncts()
    return [str(part) for part in parts] if len(parts) > 1 else []


@app.command("monitor")
def show_monitor(
    formula: str = FORMULA,
    as_json: bool = typer.Option(False, "--json", help="propositions, verdicts and the table over all letters (the default)"),
    as_dot: bool = typer.Option(False, "--dot", help="for Graphviz"),
    as_svg: bool = typer.Option(False, "--svg", help="a picture"),
    states: int = STATES,
) -> None:
    """Print the minimal monitor of a formula. Bit i of a letter is proposition i."""
    if as_json + as_dot + as_svg > 1:
        raise _fail("choose one of --json, --dot and --svg")
    monitor = _monitor(formula, states)
    if as_dot or as_svg:
        from wallwatch.domain.ltl import draw

        typer.echo(draw.dot(monitor) if as_dot else draw.svg(monitor), nl=False)
        return
    with _problems_of(formula):
        table = monitor.table()
    shown = {"propositions": list(monitor.propositions), "initial": 0, "verdicts": list(monitor.verdicts), "delta": table}
    typer.echo(orjson.dumps(shown).decode())


@app.command("run")
def run_over_trace(
    formula: str = FORMULA,
    trace: Path = typer.Option(..., help="file with one JSON array of true propositions per line; - reads standard input", allow_dash=True),
    parts: bool = typer.Option(False, "--parts", help="monitor the parts of a conjunction separately; verdicts may come later"),
    states: int = STATES,
) -> None:
    """Print one verdict per line: T (can no longer be violated), F (violated) or ? (open)."""
    monitors = _monitors_of_parts(formula, states) if parts else [_monitor(formula, states)]
    at = [0] * len(monitors)
    for present in _steps(trace):
        at = [monitor.next(state, monitor.letter(present)) for monitor, state in zip(monitors, at, strict=True)]
        typer.echo(joined([monitor.verdicts[state] for monitor, state in zip(monitors, at, strict=True)]))


def joined(verdicts: list[str]) -> str:
    """The verdict of a conjunction from those of its parts: false dominates.

    >>> joined(["T", "F"]), joined(["T", "?"]), joined(["T", "T"])
    ('F', '?', 'T')
    """
    return "F" if "F" in verdicts else "?" if "?" in verdicts else "T"


def _monitors_of_parts(formula: str, states: int) -> list[Monitor]:
    from wallwatch.domain.ltl.limits import Limits
    from wallwatch.domain.ltl.monitor import compiled
    from wallwatch.domain.ltl.parse import parse

    with _problems_of(formula):
        found = [compiled(part, Limits(states=states)) for part in parse(formula).conjuncts()]
    if len(found) > 1:
        typer.echo(f"{len(found)} parts are monitored separately: verdicts may come later than for the whole formula", err=True)
    return found


def _steps(trace: Path) -> Iterator[list[str]]:
    if str(trace) == "-":
        yield from _parsed(sys.stdin.buffer)
        return
    try:
        with trace.open("rb") as lines:
            yield from _parsed(lines)
    except OSError as problem:
        raise _fail(f"the trace cannot be read: {problem}") from None


def _parsed(lines: Iterable[bytes]) -> Iterator[list[str]]:
    empty = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            empty = empty or number
            continue
        if empty:  # harmless at the end; before other lines, verdicts would get the wrong line numbers
            raise _fail(f"line {empty} is empty: write [] for a step without propositions")
        try:
            present = orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            raise _fail(
                f'line {number}: not JSON ({problem}); write one array of true propositions per line, such as [] or ["a"]'
            ) from None
        if not isinstance(present, list):
            raise _fail(f'line {number}: expected an array of true propositions, such as [] or ["a"]')
        unknown = [item for item in present if not isinstance(item, str)]
        if unknown:
            raise _fail(f"line {number}: expected the name of a proposition, not {unknown[0]!r}")
        yield present
