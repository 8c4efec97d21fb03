"""`wallwatch capture`: what the transport engines of RNICs did, read from packet captures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.catalogue.transport import TransportFigures
    from wallwatch.domain.catalogue.transport_verdicts import LatencyVerdict
    from wallwatch.domain.transport.analysis import Options
    from wallwatch.domain.transport.results import Analysis

CONFORMS, VIOLATES, BAD_INPUT = 0, 1, 2

app = typer.Typer(help="Captures of RoCEv2: retransmissions, violations, congestion notification.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Captures of RoCEv2: retransmissions, violations, congestion notification."""


@app.command()
def analyse(
    files: list[Path] = typer.Argument(metavar="FILE...", help="pcap or pcapng, gzipped or not"),
    as_json: bool = typer.Option(False, "--json", help="print JSON: one object for one file, a list for several"),
    roce_port: str = typer.Option("4791", "--roce-port", metavar="PORT|any", help="UDP destination port of RoCE"),
    timeout: int = typer.Option(14, "--timeout", min=0, max=31, help="the QPs' timeout attribute: the minimum is 4.096 us * 2^timeout"),
    events: str | None = typer.Option(None, "--events", metavar="lumina", help="the frames carry Lumina's mirror metadata"),
    event_codes: str | None = typer.Option(
        None, "--event-codes", metavar="NAME=TTL,...", help="TTLs of Lumina's events; default: none=0,drop=1,ecn=2,corrupt=3"
    ),
    rtt_us: float | None = typer.Option(None, "--rtt-us", min=0, help="round trip between the hosts; default: estimated from answers"),
    qp: list[str] | None = typer.Option(
        None, "--qp", metavar="IP:QPN-IP:QPN", help="the two ends of a connection, where pairing by PSN is not enough; may be repeated"
    ),
    model: str | None = typer.Option(None, "--model", help="compare latencies with the catalogue's figures of this RNIC model"),
) -> None:
    """Analyse captures: retransmissions with their latencies, violations of go-back-N, congestion notification, ICRCs.

    Exit codes: 0 all captures conform, 1 a violation was found, 2 a file could not be read (the others are still analysed).
    """
    from wallwatch.domain.transport.options import OptionError, analysis_options

    try:
        options = analysis_options(
            roce_port=roce_port, timeout=timeout, events=events, event_codes=event_codes, rtt_us=rtt_us, pairs=qp or []
        )
        figures = _figures(model)
    except OptionError as problem:
        _complain(str(problem))
        raise typer.Exit(BAD_INPUT) from None
    results: list[tuple[Path, Analysis]] = []
    for file in files:
        result = _analyse(file, options)
        if result:
            results.append((file, result))
    _print(results, figures, as_json=as_json, several=len(files) > 1)
    if len(results) < len(files):
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(CONFORMS if all(result.conforms for _, result in results) else VIOLATES)


def _figures(model: str | None) -> TransportFigures | None:
    from wallwatch.domain.catalogue.transport import transport_figures
    from wallwatch.domain.transport.options import OptionError

    if model is None:
        return None
    known = transport_figures()
    if model not in known:
        raise OptionError(f"--model {model}: unknown; known are {', '.join(known)}")
    return known[model]


def _analyse(file: Path, options: Options) -> Analysis | None:
    from wallwatch.domain.transport.analysis import analyse as analyse_blocks
    from wallwatch.domain.transport.containers import read_frames
    from wallwatch.domain.transport.frames import CaptureError, ReadReport

    report = ReadReport()
    try:
        if str(file) == "-":
            stream = typer.get_binary_stream("stdin")
            return analyse_blocks(read_frames(stream, report), report, options)
        with file.open("rb") as opened:
            return analyse_blocks(read_frames(opened, report), report, options)
    except CaptureError as problem:
        _complain(f"{file}: {problem}")
    except OSError as problem:
        _complain(f"{file} cannot be read: {problem.strerror or problem}")
    return None


def _print(results: list[tuple[Path, Analysis]], figures: TransportFigures | None, *, as_json: bool, several: bool) -> None:
    from wallwatch.domain.catalogue.transport_verdicts import latency_verdicts

    def verdicts(result: Analysis) -> list[LatencyVerdict]:
        return latency_verdicts(result.qps, result.half_rtt.rtt_ns, figures) if figures else []

    if as_json:
        rows = [
            {"file": str(file), **asdict(result)} | ({"latency_verdicts": [asdict(row) for row in verdicts(result)]} if figures else {})
            for file, result in results
        ]
        if several or rows:
            typer.echo(orjson.dumps(rows if several else rows[0], option=orjson.OPT_INDENT_2).decode())
        return
    from wallwatch.cli.capture_text import capture_text

    for file, result in results:
        typer.echo(capture_text(str(file), result, verdicts(result)))


def _complain(message: str) -> None:
    typer.echo(f"wallwatch capture analyse: {message}", err=True)
