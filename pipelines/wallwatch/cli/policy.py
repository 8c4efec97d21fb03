"""`wallwatch policy ...`: the policies of the catalogue, and backtests of them on recorded events."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.policies.models import Policy
    from wallwatch.domain.policies.step import Event, Violation

app = typer.Typer(help="Policies: temporal logic over events of flows, virtual functions, RNICs and hosts.", no_args_is_help=True)


@app.command("list")
def list_policies() -> None:
    """Print every policy with its formula."""
    from wallwatch.domain.policies.load import policies

    for policy in policies().values():
        typer.echo(f"{policy.id:38} {policy.subject:8} {policy.severity:8} {policy.formula}")


@app.command("tables")
def print_tables(policy: list[str] = typer.Option([], help="only this policy; may be repeated")) -> None:
    """Print policies as the tables that collectors run."""
    from wallwatch.domain.policies.tables import DoesNotFit, tables

    try:
        typer.echo(tables(_chosen(policy)), nl=False)
    except DoesNotFit as problem:
        raise _fail(str(problem)) from None


@app.command("backtest")
def backtest(
    recording: Path | None = typer.Argument(
        None, help="telemetry.jsonl, .jsonl.gz, or a folder with one: one message of docs/contracts.md per line"
    ),
    database: bool = typer.Option(
        False, "--database", help="read events from the database of WALLWATCH_DATABASE_URL instead of a recording"
    ),
    from_: str | None = typer.Option(
        None, "--from", help="start: RFC 3339, or relative such as 7d, 12h, 30m (default with --database: 7d)"
    ),
    to: str | None = typer.Option(None, "--to", help="end, in the same format (default: now)"),
    policy: list[str] = typer.Option([], help="only this policy; may be repeated"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object per violation"),
) -> None:
    """Print which policies recorded or stored events violate, where and when. Neither source has events of single flows."""
    from wallwatch.domain.policies.backtest import backtest as run

    if (recording is None) == (not database):
        raise _fail("either a recording or --database is required")
    chosen = _chosen(policy)
    now = datetime.now(UTC)
    begin = _instant(from_ or ("7d" if database else None), now)
    end = _instant(to, now)
    if begin is not None and end is not None and begin >= end:
        raise _fail(f"--from {begin.isoformat()} is not before --to {end.isoformat()}")
    problems: Counter[str] = Counter()
    if recording is not None:
        source = _recorded(recording, problems, begin, end)
    else:
        source = _stored(chosen, begin or now - timedelta(days=7), end or now)
    # Stored events start somewhere, and a subject may have had a past before that; a recording is complete.
    report = run(chosen, source, progress=_progress if sys.stderr.isatty() else None, past=database)
    for violation in report.violations:
        if as_json:
            typer.echo(orjson.dumps(_as_json(violation)).decode())
        else:
            typer.echo(f"{_time(violation.at_us)}  {violation.policy}  {' '.join(violation.subject)}: {_trace(violation)}")
    if not as_json:
        for one in chosen:
            seen = report.counts[one.id]
            result = f"violated {seen.violations:4} times; {seen.subjects} subjects seen, {seen.unknown} of them unknown"
            typer.echo(f"{one.id:38} {result if seen.events else 'no matching events'}")
    late = sum(seen.late for seen in report.counts.values())
    if late:
        problems["events that arrived out of order for their subject"] += late
    for problem, count in problems.items():
        typer.echo(f"{problem}: {count}", err=True)


def _fail(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(2)


def _progress(events: int, at_us: int) -> None:
    typer.echo(f"\r{events:,} events, at {_time(at_us)} ", err=True, nl=False)


_AGO = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def _instant(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise _fail(f"{text!r} is not a time: write 2026-09-21T14:00:00Z, or a relative time such as 7d, 12h, 30m") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _recorded(place: Path, problems: Counter[str], begin: datetime | None, end: datetime | None) -> Iterator[Event]:
    from wallwatch.domain.policies.event import event_of
    from wallwatch.recordings import TELEMETRY, Recording

    files = [place / name for name in TELEMETRY] if place.is_dir() else [place]
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        raise _fail(f"{place} is not a recording: it has no {' or '.join(one.name for one in files)}")
    recording = Recording(file.parent, file, [], {}, problems)
    from_us = 0 if begin is None else begin.timestamp() * 1e6
    to_us = float("inf") if end is None else end.timestamp() * 1e6
    has_messages = False
    for line in recording.lines():
        try:
            message: Any = orjson.loads(line)
        except orjson.JSONDecodeError:
            problems["lines that are not JSON"] += 1
            continue
        if not isinstance(message, dict):
            problems["lines that are no message"] += 1
            continue
        has_messages = True
        event = event_of(message)
        if event is not None and from_us <= event.at_us < to_us:
            yield event
    if problems and not has_messages:
        raise _fail(f"{file} is not a recording: none of its lines is a message")


def _stored(chosen: list[Policy], begin: datetime, end: datetime) -> Iterator[Event]:
    import psycopg

    from wallwatch.domain.policies.backtest import kinds_read
    from wallwatch.domain.policies.step import Event
    from wallwatch.settings import Settings
    from wallwatch.store.events import stored_events

    try:
        with psycopg.connect(Settings().libpq_url, connect_timeout=5, application_name="wallwatch-backtest") as connection:
            for at_us, host, pci, kind, fields in stored_events(connection, begin, end, kinds_read(chosen)):
                yield Event(kind, at_us, host, pci, fields)
    except psycopg.Error as error:
        raise _fail(f"the events cannot be read from WALLWATCH_DATABASE_URL: {str(error).strip()}") from None


def _chosen(ids: list[str]) -> list[Policy]:
    from wallwatch.domain.policies.load import policies

    unknown = [name for name in ids if name not in policies()]
    if unknown:
        raise _fail(f"unknown policy {unknown[0]}; `wallwatch policy list` lists all policies")
    return [policies()[name] for name in ids] or list(policies().values())


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
