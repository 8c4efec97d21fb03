"""`wallwatch capture`: what the transport engines of RNICs did, read from packet captures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

if TYPE_CHECKING:
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
) -> None:
    """Analyse captures: retransmissions with their latencies, violations of go-back-N, congestion notification, ICRCs.

    Exit codes: 0 all captures conform, 1 a violation was found, 2 a file could not be read (the others are still analysed).
    """
    port = _port(roce_port)
    if events not in (None, "lumina"):
        _complain(f"--events {events}: unknown; the only metadata understood is lumina")
        raise typer.Exit(BAD_INPUT)
    results: list[tuple[Path, Analysis]] = []
    for file in files:
        result = _analyse(file, port, timeout, mirrored=events == "lumina")
        if result:
            results.append((file, result))
    _print(results, as_json=as_json, several=len(files) > 1)
    if len(results) < len(files):
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(CONFORMS if all(result.conforms for _, result in results) else VIOLATES)


def _port(text: str) -> int | None:
    if text == "any":
        return None
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16:
        return int(text)
    _complain(f"--roce-port {text}: must be a port from 1 to 65535, or any")
    raise typer.Exit(BAD_INPUT)


def _analyse(file: Path, port: int | None, timeout: int, *, mirrored: bool) -> Analysis | None:
    from wallwatch.domain.transport.analysis import analyse as analyse_blocks
    from wallwatch.domain.transport.containers import read_frames
    from wallwatch.domain.transport.frames import CaptureError, ReadReport

    report = ReadReport()
    try:
        if str(file) == "-":
            stream = typer.get_binary_stream("stdin")
            return analyse_blocks(read_frames(stream, report), report, port=port, timeout=timeout, mirrored=mirrored)
        with file.open("rb") as opened:
            return analyse_blocks(read_frames(opened, report), report, port=port, timeout=timeout, mirrored=mirrored)
    except CaptureError as problem:
        _complain(f"{file}: {problem}")
    except OSError as problem:
        _complain(f"{file} cannot be read: {problem.strerror or problem}")
    return None


def _print(results: list[tuple[Path, Analysis]], *, as_json: bool, several: bool) -> None:
    if as_json:
        rows = [{"file": str(file), **asdict(result)} for file, result in results]
        if several or rows:
            typer.echo(orjson.dumps(rows if several else rows[0], option=orjson.OPT_INDENT_2).decode())
        return
    from wallwatch.cli.capture_text import capture_text

    for file, result in results:
        typer.echo(capture_text(str(file), result))


def _complain(message: str) -> None:
    typer.echo(f"wallwatch capture analyse: {message}", err=True)
