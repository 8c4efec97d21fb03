"""`wallwatch vnic ...`: whose traffic broke whose promise on a card shared by virtual functions (docs/isolation.md)."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli import vnic_shares, vnic_simulation
from wallwatch.cli.vnic_input import refuse

if TYPE_CHECKING:
    from wallwatch.domain.isolation.series_judgement import Judgement
    from wallwatch.domain.isolation.slo import SloFile

app = typer.Typer(help="Isolation of virtual functions: broken promises, victims, aggressors, fair shares.", no_args_is_help=True)
vnic_shares.register(app)
vnic_simulation.register(app)

_SERIES = typer.Argument(..., help="series of cumulative counters, CSV or CSV.gz: t,entity,rx_bytes,... (docs/isolation.md)")
_SLO = typer.Option(..., "--slo", help="promises as JSON: {nic_bps, slo: {vf0: {min_bps, max_bps, p50_us, p99_us, loss, policed_bps}}}")
_JSON = typer.Option(False, "--json", help="print JSON")


@app.command("detect")
def detect(series: Path = _SERIES, slo: Path = _SLO, as_json: bool = _JSON) -> None:
    """Print the seconds in which a promise to a well-behaved VF broke, with victims, aggressors and mechanism."""
    judgement = _judged("detect", series, _promises("detect", slo))
    if as_json:
        seconds = [
            {"t": _number(verdict.t), "victims": verdict.victims, "aggressors": verdict.aggressors, "mechanism": verdict.mechanism}
            | ({"estimated": True, "interval_s": verdict.interval_s} if verdict.estimated else {})
            for verdict in judgement.broken
        ]
        _print_json({"seconds": seconds, "unknown": [_number(t) for t in judgement.unknown], "counts": judgement.counts})
        return
    for verdict in judgement.broken:
        sender = ", ".join(verdict.aggressors) or "unknown sender"
        about = f" (somewhere in {verdict.interval_s:.0f} s)" if verdict.estimated else ""
        typer.echo(f"{_number(verdict.t)}  {verdict.mechanism}: {sender} -> {', '.join(verdict.victims)}{about}")
    counts = judgement.counts
    typer.echo(f"{counts['judged']} intervals judged, {counts['broken']} broken, {counts['unknown']} unknown")


@app.command("report")
def report(
    series: Path = _SERIES,
    slo: Path = _SLO,
    target: float = typer.Option(0.999, "--target", min=0.0, max=1.0, help="part of the seconds in which the promise is to hold"),
    as_json: bool = _JSON,
) -> None:
    """Print for each VF the seconds in which its promise was kept, broken or unknown, and what is left of the error budget."""
    judgement = _judged("report", series, _promises("report", slo))
    rows = judgement.tally.rows(target)
    if as_json:
        _print_json({"target": target, "vfs": rows, "counts": judgement.counts})
        return
    names = ("kept_s", "broken_s", "unknown_s", "not_promised_s", "aggressor_s")
    typer.echo("VF      " + "".join(f"{name.replace('_', ' '):>16}" for name in names) + f"{'kept':>10}{'budget left':>13}")
    for row in rows:
        times = "".join(f"{row[name]:>16.0f}" for name in names)
        typer.echo(f"{row['vf']:8}{times}{_percent(row['kept_share']):>10}{_percent(row['budget_left']):>13}")


def _promises(command: str, path: Path) -> SloFile:
    from wallwatch.domain.isolation.slo import BadSlo, read_slo_file

    try:
        file = read_slo_file(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse(command, f"{path} cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        refuse(command, f"{path} is not text: the SLO file is JSON in UTF-8")
    except BadSlo as error:
        refuse(command, f"{path}: {error}")
    if file.ignored:
        typer.echo(f"{path}: ignored {', '.join(file.ignored[:5])}: no such key of a promise", err=True)
    return file


def _judged(command: str, path: Path, file: SloFile) -> Judgement:
    from wallwatch.domain.isolation.csv_rows import BadSeries
    from wallwatch.domain.isolation.csv_series import COUNTS, read_series
    from wallwatch.domain.isolation.series_judgement import judge_series

    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    try:
        with contextlib.closing(_lines(path)) as lines:
            judgement = judge_series(read_series(lines, counts), file, counts)
    except BadSeries as error:
        refuse(command, f"{path}: {error}")
    absent = [vf for vf in file.slo if vf not in judgement.seen]
    if absent:
        refuse(
            command,
            f"the SLO promises to {_names(absent)}, and {path} has no row of it: correct the SLO file, or choose the file of this RNIC",
        )
    strangers = sorted(judgement.seen - set(file.slo))
    if strangers:
        judgement.counts["vfs_without_promise"] = len(strangers)
        typer.echo(f"{path}: {_names(strangers)} without a promise in the SLO file: may be an aggressor, never a victim", err=True)
    if judgement.counts["bad_rows"]:
        typer.echo(f"{path}: {judgement.counts['bad_rows']} of {judgement.counts['rows']} rows are malformed and were skipped", err=True)
    return judgement


def _lines(path: Path) -> Generator[str, None, None]:
    """Lines of a CSV file, compressed or not; bytes that are no UTF-8 make a bad row."""
    import gzip
    import io
    import zlib

    from wallwatch.domain.isolation.csv_rows import BadSeries

    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            unpacked: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]  # a BufferedIOBase, as TextIOWrapper wants
            with io.TextIOWrapper(unpacked, "utf-8", errors="replace") as text:
                yield from iter(partial(text.readline, 1 << 16), "")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadSeries(f"the compressed file is damaged or cut off: {error}") from None
    except OSError as error:
        raise BadSeries(f"the file cannot be read: {error.strerror or error}") from None


def _names(vfs: list[str]) -> str:
    return ", ".join(vfs[:5]) + (f" and {len(vfs) - 5} more VFs" if len(vfs) > 5 else "")


def _number(t: float) -> float | int:
    return int(t) if t.is_integer() else t


def _percent(share: Any) -> str:
    return "-" if share is None else f"{100 * share:.3f}%"


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(orjson.dumps(document).decode())
