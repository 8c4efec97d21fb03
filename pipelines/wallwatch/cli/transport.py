"""`wallwatch transport`: descriptions of transport tests."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import orjson
import typer
import yaml

if TYPE_CHECKING:
    from wallwatch.domain.transport.intents import Intent

BAD_INPUT = 2
MOST_BYTES = 16 << 20

app = typer.Typer(help="Descriptions of transport tests: check them, and plan what a switch injects.", no_args_is_help=True)

INTENT = typer.Argument(metavar="INTENT", help="YAML or JSON: requester, responder, traffic with data-pkt-events")


@app.callback()
def main() -> None:
    """Descriptions of transport tests: check them, and plan what a switch injects."""


@app.command()
def check(intent: Path = INTENT, as_json: bool = typer.Option(False, "--json", help="print the description as it was understood")) -> None:
    """Validate a description; exit code 2 when it cannot be run."""
    parsed = _intent(intent)
    if as_json:
        typer.echo(orjson.dumps(parsed.model_dump(mode="json", by_alias=True, exclude_none=True), option=orjson.OPT_INDENT_2).decode())
        return
    traffic = parsed.traffic
    typer.echo(
        f"{intent}: {traffic.connections:,} connections from {parsed.requester.nic.type} to {parsed.responder.nic.type}, "
        f"{traffic.num_msgs_per_qp:,} {traffic.rdma_verb} messages of {traffic.packets_per_message:,} packets each, "
        f"{len(traffic.data_pkt_events):,} events; connections and packets count from {traffic.base}"
    )


@app.command()
def plan(
    intent: Path = INTENT,
    connections: Path = typer.Option(
        ..., "--connections", metavar="FILE", help="YAML or JSON: what the traffic generators reported, a list of {requester, responder}"
    ),
    as_json: bool = typer.Option(False, "--json", help="print a list of entries"),
) -> None:
    """Translate events into the entries of a switch's match-action table."""
    from wallwatch.domain.transport.entries import entries, parse_connections
    from wallwatch.domain.transport.intents import IntentError

    parsed = _intent(intent)
    raw = _read(connections)
    try:
        found = entries(parsed, parse_connections(raw))
    except IntentError as problem:
        _refuse(f"{connections}:\n{problem}")
    if as_json:
        typer.echo(orjson.dumps([asdict(entry) for entry in found], option=orjson.OPT_INDENT_2).decode())
        return
    for entry in found:
        typer.echo(str(entry))


def _intent(path: Path) -> Intent:
    from wallwatch.domain.transport.intents import IntentError, parse_intent

    try:
        return parse_intent(_read(path))
    except IntentError as problem:
        _refuse(f"{path}:\n{problem}")


def _read(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as problem:
        _refuse(f"{path} cannot be read: {problem.strerror or problem}")
    if len(content) > MOST_BYTES:
        _refuse(f"{path}: more than {MOST_BYTES >> 20} MB")
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as problem:
        _refuse(f"{path}: neither YAML nor JSON: {str(problem).splitlines()[0]}")


def _refuse(message: str) -> NoReturn:
    typer.echo(f"wallwatch transport: {message}", err=True)
    raise typer.Exit(BAD_INPUT)
