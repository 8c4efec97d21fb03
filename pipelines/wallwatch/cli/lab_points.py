"""`wallwatch lab points DIR`: hand the tests of a campaign to calibration."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import orjson
import typer

from wallwatch.cli.calibrate import REFUSED, print_calibration

USAGE = 2


def points(
    folder: Path = typer.Argument(..., metavar="DIR", help="folder of a campaign"),
    verb: str = typer.Option(..., "--verb", help="send or write: what the device's traffic is; its description does not say"),
    message_bytes: int = typer.Option(..., "--message-bytes", min=1, help="message size of the device's traffic"),
    profile: str | None = typer.Option(None, "--profile", "-p", help="RNIC model of the device; by default the nearest profile"),
    out: Path | None = typer.Option(None, "--out", help="write the calibration to this file, for `wallwatch calibrate perftest --current`"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
) -> None:
    """Refit the performance model of an RNIC to the tests in which nothing but the masks of both directions varies.

    Run the search with --only masks_egress,masks_ingress for most points. Exit code 2: no usable test; 3: the profile fits better.
    """
    from wallwatch.domain.calibration.calibrate import NothingToFit, calibrate, nearest_profile
    from wallwatch.domain.calibration.lab_points import lab_points
    from wallwatch.domain.catalogue.load import profiles
    from wallwatch.domain.catalogue.names import profile_named
    from wallwatch.lab.journal import FILE_NAME, JournalError, read_journal
    from wallwatch.lab.measured import NoBaseline, baseline_and_tests

    if verb not in ("send", "write"):
        _end(f"--verb must be send or write, not {verb!r}: bandwidth of reads has no model")
    model = None if profile is None else profile_named(profile)
    if profile is not None and model is None:
        _end(f"unknown profile {profile!r} (expected one of {', '.join(profiles())})")
    try:
        healthy, tests = baseline_and_tests(read_journal(folder / FILE_NAME))
    except (JournalError, NoBaseline) as problem:
        _end(str(problem))
    measured = lab_points(tests, healthy, verb, message_bytes)  # type: ignore[arg-type]  # checked above
    if not measured:
        _end(
            f"none of its {len(tests)} tests measured bw_gbps or latency_us with masks_egress and masks_ingress alone varied; "
            "run the search with --only masks_egress,masks_ingress on a device that measures them"
        )
    known = {name: each.performance for name, each in profiles().items()}
    chosen = model or nearest_profile(measured, known)
    try:
        found = calibrate(
            measured,
            known[chosen],
            chosen,
            chosen="given" if model else "nearest",
            others=list(known.values()),
            assumptions=["Masks are used evenly, so that n of them take (n - 1) / 2 lookups per packet on average."],
        )
    except NothingToFit as problem:
        _end(problem.what)
    document = orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    if out is not None:
        try:
            out.write_bytes(document + b"\n")
        except OSError as problem:
            _end(f"--out {out} cannot be written: {problem.strerror or problem}")
    if as_json:
        typer.echo(document.decode())
    else:
        print_calibration(found)
    if not found.accepted:
        typer.echo("refused: " + " ".join(found.reasons), err=True)
        raise typer.Exit(REFUSED)


def _end(message: str) -> NoReturn:
    typer.echo(f"wallwatch lab points: {message}", err=True)
    raise typer.Exit(USAGE)
