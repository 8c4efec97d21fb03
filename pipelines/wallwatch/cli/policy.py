"""`wallwatch policy ...`: the policies of the catalogue, and what they would have said of recorded events."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.policies.models import Policy
    from wallwatch.domain.policies.watch import Violation

app = typer.Typer(help="Policies: temporal logic over what happens to flows, virtual functions, RNICs and hosts.", no_args_is_help=True)


@app.command("list")
def list_policies() -> None:
    """Print every policy with its formula."""
    from wallwatch.domain.policies.load import policies

    for policy in policies().values():
        typer.echo(f"{policy.id:38} {policy.subject:8} {policy.severity:8} {policy.formula}")


@app.command("tables")
def print_tables(policy: list[str] = typer.Option([], help="only these; may be repeated")) -> None:
    """Print the policies as the tables that a collector runs."""
    from wallwatch.domain.policies.tables import DoesNotFit, tables

    try:
        typer.echo(tables(_chosen(policy)), nl=False)
    except DoesNotFit as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(2) from None


@app.command("backtest")
def backtest(
    recording: Path = typer.Argument(help="telemetry.jsonl, .jsonl.gz, or a folder with one: a message of docs/contracts.md a line"),
    policy: list[str] = typer.Option([], help="only these; may be repeated"),
    as_json: bool = typer.Option(False, "--json", help="one line of JSON for each violation"),
) -> None:
    """Say which policies recorded events violate, where and when."""
    from wallwatch.domain.policies.event import event_of
    from wallwatch.domain.policies.watch import Watch

    chosen = _chosen(policy)
    watch = Watch(chosen)
    counts: Counter[str] = Counter()
    newest_us = unread = 0
    found: list[Violation] = []
    for line in _lines(recording):
        try:
            message: Any = orjson.loads(line)
        except orjson.JSONDecodeError:
            unread += 1
            continue
        event = event_of(message) if isinstance(message, dict) else None
        if event is None:
            continue
        newest_us = max(newest_us, event.at_us)
        found += watch.take(event)
    found += watch.tick(newest_us + 1)
    for violation in sorted(found, key=lambda one: one.at_us):
        counts[violation.policy] += 1
        if as_json:
            typer.echo(orjson.dumps(_as_json(violation)).decode())
        else:
            typer.echo(f"{_time(violation.at_us)}  {violation.policy}  {' '.join(violation.subject)}: {_trace(violation)}")
    if as_json:
        return
    coverage = watch.coverage()
    for one in chosen:
        seen = coverage[one.id]
        typer.echo(f"{one.id:38} violated {counts[one.id]:4} times; {seen['subjects']} subjects seen, of them {seen['unknown']} unknown")
    if unread or watch.late:
        typer.echo(f"{unread} lines could not be read, {watch.late} events came after a later one of their subject", err=True)


def _chosen(ids: list[str]) -> list[Policy]:
    from wallwatch.domain.policies.load import policies

    unknown = [name for name in ids if name not in policies()]
    if unknown:
        typer.echo(f"there is no policy {unknown[0]}; `wallwatch policy list` names them", err=True)
        raise typer.Exit(2)
    return [policies()[name] for name in ids] or list(policies().values())


def _lines(recording: Path) -> Iterator[bytes]:
    files = [recording / name for name in ("telemetry.jsonl.gz", "telemetry.jsonl")] if recording.is_dir() else [recording]
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        typer.echo(f"{recording} is no recording: there is no {' or '.join(one.name for one in files)}", err=True)
        raise typer.Exit(2)
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            yield from lines
    except (OSError, EOFError) as problem:
        typer.echo(f"{file} ends early: {problem}; what was read before counts", err=True)


def _time(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _trace(violation: Violation) -> str:
    return ", then ".join("+".join(names) for _, names in violation.trace)


def _as_json(violation: Violation) -> dict[str, Any]:
    return {
        "policy": violation.policy,
        "subject": violation.subject,
        "at": _time(violation.at_us),
        "trace": [{"at": _time(at_us), "propositions": names} for at_us, names in violation.trace],
    }
