"""`wallwatch transport`: descriptions of transport tests, running them, and the search for anomalies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import orjson
import typer
import yaml

if TYPE_CHECKING:
    from wallwatch.domain.transport.intents import Intent

NOT_FOUND, BAD_INPUT = 1, 2
MOST_BYTES = 16 << 20

app = typer.Typer(
    help="Transport tests: check descriptions, plan what a switch injects, run them, search for anomalies.", no_args_is_help=True
)

INTENT = typer.Argument(metavar="INTENT", help="YAML or JSON: requester, responder, traffic with data-pkt-events")


@app.callback()
def main() -> None:
    """Transport tests: check descriptions, plan what a switch injects, run them, search for anomalies."""


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


ADAPTOR = typer.Option(..., "--adaptor", metavar="COMMAND", help="the program that runs tests, such as `fleetsim transport`")


@app.command()
def run(
    intent: Path = INTENT,
    adaptor: str = ADAPTOR,
    seed: int = typer.Option(1, "--seed", min=0, help="for QP numbers and PSNs, where the adaptor draws them"),
    capture: str = typer.Option("", "--capture", metavar="NAME", help="ask for a capture of this name, and analyse it"),
) -> None:
    """Run a test with an adaptor, and print what it gave as JSON; with --capture also what the capture shows."""
    from wallwatch.lab.transport.adaptor import AdaptorError, TransportAdaptor

    parsed = _intent(intent)
    try:
        with TransportAdaptor(adaptor) as started:
            outcome = started.run(parsed.model_dump(mode="json", by_alias=True, exclude_none=True), seed, capture)
            answer: dict[str, Any] = outcome.model_dump()
            if outcome.capture is not None:
                answer["analysis"] = _analysed(Path(outcome.capture))
    except AdaptorError as problem:
        _refuse(str(problem))
    typer.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())


def _analysed(capture: Path) -> dict[str, Any]:
    from wallwatch.domain.transport.analysis import Options, analyse
    from wallwatch.domain.transport.containers import read_frames
    from wallwatch.domain.transport.frames import CaptureError, ReadReport

    report = ReadReport()
    try:
        with capture.open("rb") as file:
            return asdict(analyse(read_frames(file, report), report, Options(mirrored=True)))
    except (CaptureError, OSError) as problem:
        _refuse(f"{capture}: {problem}")


@app.command()
def search(
    adaptor: str = ADAPTOR,
    requester: str = typer.Option(..., "--requester", metavar="MODEL", help="cx4-lx, cx5, cx6-dx or e810 with the simulated device"),
    responder: str = typer.Option(..., "--responder", metavar="MODEL"),
    find: str = typer.Option("discards", "--find", help="discards, noisy-neighbour, unprovoked-discards or contradiction"),
    budget: int = typer.Option(200, "--budget", min=1, max=100_000, help="most tests until the anomaly"),
    seed: int = typer.Option(1, "--seed", min=0),
    strategy: str = typer.Option("fuzz", "--strategy", help="fuzz, or random: the baseline"),
) -> None:
    """Search for a test that shows an anomaly, and reduce it to the smallest one that still does; exit code 1 when none was found."""
    from wallwatch.lab.transport.adaptor import AdaptorError, TransportAdaptor
    from wallwatch.lab.transport.score import ANOMALIES
    from wallwatch.lab.transport.search import Search

    if find not in ANOMALIES:
        _refuse(f"--find {find}: unknown; known are {', '.join(ANOMALIES)}")
    if strategy not in ("fuzz", "random"):
        _refuse(f"--strategy {strategy}: must be fuzz or random")
    try:
        with TransportAdaptor(adaptor) as started:
            looking = Search(lambda plan: started.run(plan.intent(), seed), requester, responder, find, budget, seed)
            found = looking.fuzz() if strategy == "fuzz" else looking.draw()
    except AdaptorError as problem:
        _refuse(str(problem))
    answer = {
        "find": find,
        "runs": found.runs,
        "minimising_runs": found.minimising_runs,
        "first": None if found.plan is None else found.plan.intent(),
        "minimal": None if found.minimal is None else found.minimal.intent(),
    }
    typer.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())
    if found.plan is None:
        raise typer.Exit(NOT_FOUND)


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
