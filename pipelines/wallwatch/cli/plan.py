"""`wallwatch plan`: make a mask plan from a flow dump, or prove that two dumps treat every packet alike."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import orjson
import typer

if TYPE_CHECKING:
    from wallwatch.domain.masks.dump import Dump
    from wallwatch.domain.masks.space import HeaderSpace

EQUIVALENT, DIFFERENT, BAD_INPUT = 0, 1, 2
MOST_SHOWN = 5
"""Unreadable lines that are printed; the rest is counted."""


def plan(
    flows: Path | None = typer.Option(None, "--flows", metavar="FILE", help="output of `ovs-appctl dpctl/dump-flows -m`; - reads stdin"),
    profile: str | None = typer.Option(None, "--profile", help="the RNIC's model, such as CX-6"),
    verify: tuple[Path, Path] | None = typer.Option(None, "--verify", metavar="BEFORE AFTER", help="prove two dumps equivalent"),
    port: list[str] = typer.Option([], "--port", help="only flows of these ports (* and ? allowed), to plan one RNIC of a host's dump"),
    earlier: Path | None = typer.Option(None, "--earlier", metavar="FILE", help="an earlier dump of the same switch, to measure traffic"),
    elapsed: float = typer.Option(60.0, "--elapsed", min=0.001, help="seconds between --earlier and --flows"),
    hyper_capacity: int | None = typer.Option(None, "--hyper-capacity", min=0, help="entries of the hyper mask; by default the flow limit"),
    q_r: float | None = typer.Option(None, "--q-r", min=0.0, help="mean lookups per packet at the peers, if measured"),
    history: list[Path] = typer.Option([], "--history", metavar="FILE", help="earlier dumps, dated by file time, to predict flows"),
    release: bool = typer.Option(False, "--release", help="do not re-add flows whose packets have an exact entry; see docs/plans.md"),
    after: Path | None = typer.Option(None, "--after", metavar="FILE", help="write the flows that the plan results in"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
    all_steps: bool = typer.Option(False, "--all-steps", help="print every step"),
) -> None:
    """Plan which masks an RNIC should try first, with steps and proof; or prove two flow dumps equivalent.

    Exit codes: 0 proven, 1 not equivalent or undecided, 2 invalid input.
    """
    if (flows is None) == (verify is None):
        _refuse("either --flows FILE with --profile MODEL or --verify BEFORE AFTER is required")
    if verify is not None:
        _verify(*verify, as_json)
    assert flows is not None  # noqa: S101  # checked above
    _plan(flows, profile, port, earlier, elapsed, hyper_capacity, q_r, history, release, after, as_json, all_steps)


def _plan(
    file: Path,
    profile: str | None,
    ports: list[str],
    earlier: Path | None,
    elapsed: float,
    capacity: int | None,
    q_r: float | None,
    history: list[Path],
    release: bool,
    after: Path | None,
    as_json: bool,
    all_steps: bool,
) -> None:
    from wallwatch.cli.plan_text import plan_text
    from wallwatch.domain.catalogue.load import profiles
    from wallwatch.domain.masks.space import HeaderSpace
    from wallwatch.domain.planning.compare import NotComparable
    from wallwatch.domain.planning.plan import make_plan
    from wallwatch.domain.planning.plan_report import after_text, plan_json
    from wallwatch.domain.planning.select import of_ports

    if profile is None:
        _refuse(f"--flows requires --profile (one of {', '.join(profiles())})")
    model = {name.casefold(): name for name in profiles()}.get(profile.casefold())
    if model is None:
        _refuse(f"--profile {profile}: unknown model (expected one of {', '.join(profiles())})")
    space = HeaderSpace()
    before = _read(earlier, space) if earlier else None
    past = [(_written(one), _read(one, space)) for one in history]
    dump = _read(file, space)
    if ports and not dump.bad:
        dump = of_ports(dump, ports)
        if not dump.flows:
            _refuse(f"{file} has no flow from or to {', '.join(ports)}")
    try:
        made = make_plan(
            dump,
            profiles()[model],
            earlier=before.flows if before else (),
            elapsed_s=elapsed,
            hyper_capacity=capacity,
            q_r=q_r,
            expected_headers=_likely(past, dump, file),
            release=release,
        )
    except NotComparable as problem:
        _print_unread(file, dump)
        _refuse(f"no plan: {problem}")
    if after is not None:
        after.write_text(after_text(made), encoding="utf-8")
    if as_json:
        typer.echo(orjson.dumps(plan_json(made, model), option=orjson.OPT_INDENT_2).decode())
    else:
        typer.echo(plan_text(made, model, all_steps))
    raise typer.Exit(EQUIVALENT if made.offered else DIFFERENT)


def _likely(past: list[tuple[float, Dump]], dump: Dump, file: Path) -> list[tuple[int, int]]:
    """Headers of flows that are likely to come, judging by earlier dumps."""
    if not past:
        return []
    from wallwatch.domain.planning.warmup import likely, observations

    seen = [one for at, old in past for one in observations(old, at)]
    now = _written(file) if str(file) != "-" else time.time()
    return likely(seen, observations(dump, now), dump.space, now)


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError as problem:
        _refuse(f"{file} cannot be read: {problem.strerror}")


def _verify(before: Path, after: Path, as_json: bool) -> None:
    from wallwatch.cli.plan_text import proof_text
    from wallwatch.domain.masks.space import HeaderSpace
    from wallwatch.domain.planning.compare import NotComparable, compare
    from wallwatch.domain.planning.plan_report import proof_json

    space = HeaderSpace()
    dumps = [_read(file, space) for file in (before, after)]
    try:
        compared = compare(*dumps)
    except NotComparable as problem:
        for file, dump in zip((before, after), dumps, strict=True):
            _print_unread(file, dump)
        _refuse(str(problem))
    typer.echo(orjson.dumps(proof_json(compared), option=orjson.OPT_INDENT_2).decode() if as_json else proof_text(compared))
    raise typer.Exit(EQUIVALENT if compared.proof.verdict == "equivalent" else DIFFERENT)


def _read(file: Path, space: HeaderSpace) -> Dump:
    from wallwatch.domain.masks.dump import read_dump

    try:
        text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as problem:
        _refuse(f"{file} cannot be read: {problem.strerror}")
    return read_dump(text, space)


def _print_unread(file: Path, dump: Dump) -> None:
    for bad in dump.bad[:MOST_SHOWN]:
        typer.echo(f"{file}, line {bad.line}: {bad.reason}: {bad.text}", err=True)
    if len(dump.bad) > MOST_SHOWN:
        typer.echo(f"{file}: {len(dump.bad) - MOST_SHOWN} more lines could not be read", err=True)


def _refuse(message: str) -> NoReturn:
    typer.echo(f"wallwatch plan: {message}", err=True)
    raise typer.Exit(BAD_INPUT)
