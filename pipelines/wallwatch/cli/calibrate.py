"""`wallwatch calibrate perftest FILES...`: refit the performance model to measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import orjson
import typer

from wallwatch.cli.calibrate_files import files_read

if TYPE_CHECKING:
    from wallwatch.domain.calibration.result import Calibration
    from wallwatch.domain.performance.parameters import Performance

REFUSED = 3

app = typer.Typer(help="Refit the performance model of an RNIC to measurements.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `perftest` a subcommand while it is the only one."""


@app.command()
def perftest(
    files: list[Path] = typer.Argument(
        metavar="FILES...", help="outputs of ib_send_bw, ib_write_lat, ..., or folders with *.log, *.txt, *.out, *.json; gzip too"
    ),
    profile: str | None = typer.Option(
        None, "--profile", "-p", help="RNIC model that was measured; by default the nearest profile, which the output names"
    ),
    current: Path | None = typer.Option(
        None, "--current", help="earlier output of --json whose candidate the fit must beat, instead of the profile"
    ),
    masks: str | None = typer.Option(
        None, "--masks", help="cen=0,cde=0,sen=0,sde=0 or ql=0,qr=0 (lookups per packet), for files without mask counts in their name"
    ),
    manifest: Path | None = typer.Option(None, "--manifest", help="YAML or JSON: file name -> {cen, cde, sen, sde} or {ql, qr}"),
    verb: str | None = typer.Option(
        None, "--verb", help="send, write or read: the verb whose fits make the profile; by default the one with the best measurements"
    ),
    statistic: str = typer.Option("average", "--statistic", help="latency statistic: average, typical or p99"),
    bandwidth_bytes: int | None = typer.Option(None, "--bandwidth-bytes", min=1, help="message size for bandwidth; by default the largest"),
    latency_bytes: int | None = typer.Option(None, "--latency-bytes", min=1, help="message size for latency; by default the smallest"),
    plot: Path | None = typer.Option(None, "--plot", help="write the residual plots to this SVG file"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
) -> None:
    """Fit u, v, m, n, w and a, b, c to perftest's output. Exit code 2: no usable input; 3: the fit is worse than the current profile.

    perftest's output does not say how many masks the packets had to pass. Wallwatch reads the counts from the name of each file or of a
    folder above it: cen_20_cde_100_sen_80_sde_80_send_bw.log (client and server, encapsulation and decapsulation) or
    ql_20_qr_80_send_bw.log (mean lookups per packet). --manifest overrides the names; --masks applies to all other files.
    """
    from wallwatch.domain.calibration.calibrate import VERBS, NothingToFit, Wish
    from wallwatch.domain.calibration.files import calibrate_files

    if verb is not None and verb not in VERBS:
        _end(f"--verb must be one of {', '.join(VERBS)}, not {verb!r}")
    if statistic not in ("average", "typical", "p99"):
        _end(f"--statistic must be average, typical or p99, not {statistic!r}")
    if plot is not None and (plot.is_dir() or not plot.parent.is_dir()):
        _end(f"--plot {plot} cannot be written: {'it is a folder' if plot.is_dir() else f'folder {plot.parent} does not exist'}")
    read = files_read(files, masks, manifest, {file for file in (manifest, current) if file is not None})
    model, performance = _current(profile, current)
    try:
        wish = Wish(verb=verb, statistic=statistic, bandwidth_bytes=bandwidth_bytes, latency_bytes=latency_bytes)  # type: ignore[arg-type]
        found = calibrate_files(read, model, performance, wish)
    except NothingToFit as problem:
        for line in problem.problems:
            typer.echo(line, err=True)
        _end(problem.what)
    for line in found.problems:
        typer.echo(line, err=True)
    if as_json:
        typer.echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode())
    else:
        print_calibration(found)
    if plot is not None:
        from wallwatch.domain.calibration.residual_plot import svg

        try:
            plot.write_text(svg(found), encoding="utf-8")
        except OSError as problem:
            _end(f"--plot {plot} cannot be written: {problem.strerror or problem}")
    if not found.accepted:
        typer.echo("refused: " + " ".join(found.reasons), err=True)
        raise typer.Exit(REFUSED)


def _end(message: str) -> NoReturn:
    typer.echo(f"wallwatch calibrate: {message}", err=True)
    raise typer.Exit(2)


def _current(profile: str | None, file: Path | None) -> tuple[str | None, Performance | None]:
    from wallwatch.domain.calibration.result import Calibration
    from wallwatch.domain.catalogue.load import profiles
    from wallwatch.domain.catalogue.names import profile_named
    from wallwatch.domain.performance.parameters import Performance

    name = None
    if profile is not None:
        name = profile_named(profile)
        if name is None:
            _end(f"unknown profile {profile!r} (expected one of {', '.join(profiles())})")
    if file is None:
        return name, None
    try:
        before = Calibration.model_validate_json(file.read_bytes())
    except OSError as problem:
        _end(f"{file} cannot be read: {problem.strerror or problem}")
    except ValueError:
        _end(f"{file} is not the output of `wallwatch calibrate --json`")
    if before.candidate is None:
        _end(f"{file} holds a refused calibration, which cannot be compared with")
    return name or before.profile, Performance(**before.candidate.model_dump())


def print_calibration(found: Calibration) -> None:
    """Print a fit: its parameters with their intervals, its points, and why it was accepted or refused."""
    nearest = " (nearest match; choose another with --profile)" if found.profile_chosen == "nearest" else ""
    typer.echo(f"profile {found.profile}{nearest}, verb {found.verb}")
    for fit in (found.bandwidth, found.latency):
        if fit is None:
            continue
        r2 = "R squared " + ("unknown" if fit.r_squared is None else f"{fit.r_squared:.4f}")
        typer.echo(
            f"\n{fit.quantity} [{fit.unit}] at {fit.message_bytes} bytes, {len(fit.points)} points at {fit.distinct} (Q_l, Q_r): {r2}"
        )
        for name, p in fit.parameters.items():
            interval = "" if p.lower is None or p.upper is None else f"{p.lower:.4g} to {p.upper:.4g}"
            caveat = "" if p.identified else "; not identifiable from these points"
            typer.echo(f"  {name} {p.value:10.4g}   95%: {interval:24} was {p.current:.4g}{caveat}")
        typer.echo("     Q_l     Q_r   measured     fitted    error    current error")
        for q in fit.points:
            off, before = f"{q.relative:+7.1%}", f"{q.current / q.measured - 1:+7.1%}"
            typer.echo(f"  {q.q_l:6.1f}  {q.q_r:6.1f} {q.measured:10.2f} {q.fitted:10.2f}  {off}   {before}  {q.source}")
        for note in fit.notes:
            typer.echo(f"  note: {note}")
        typer.echo(f"  {'accepted' if fit.accepted else 'refused'}: {fit.reason}")
    for note in (*found.notes, *found.assumptions):
        typer.echo(f"note: {note}")
