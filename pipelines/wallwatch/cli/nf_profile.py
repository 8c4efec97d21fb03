"""`wallwatch nf profile`: measure a profile of a function with few tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli.nf_input import refuse

if TYPE_CHECKING:
    from wallwatch.domain.contention.composition import Detected
    from wallwatch.lab.function_profile import FunctionProfile
    from wallwatch.lab.options import Hooks
    from wallwatch.lab.progress import Progress

COMMAND = "profile"
INCOMPLETE = 3
_NORMAL_90 = 1.645
"""Standard errors of a 90% interval."""


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command(COMMAND)(profile)


def profile(
    dut: str = typer.Option(..., "--dut", metavar="COMMAND", help="a device that speaks dut/1 (docs/contention.md), run without a shell"),
    quota: int = typer.Option(50, min=10, help="most configurations to measure"),
    out: Path = typer.Option(Path("profile"), metavar="DIR", help="folder for journal and profiles; one with a journal is continued"),
    nf: str = typer.Option("function", metavar="NAME", help="name of the function, and of the profiles' files"),
    plan: bool = typer.Option(False, "--plan", help="measure nothing: print the next configurations, given the journal in DIR"),
    seed: int = typer.Option(1, min=0, help="of the random contention"),
    as_json: bool = typer.Option(False, "--json", help="print the result as JSON"),
) -> None:
    """Measure where throughput changes (Yala, section 5.2), and write profiles for `wallwatch nf train`.

    Each test is in DIR/journal.jsonl before the next begins: the same command continues a run that was killed. Exit code 2: the device, the
    folder or the options cannot be used; 3: incomplete.
    """
    from wallwatch.lab.faults import BadDevice
    from wallwatch.lab.function_profile import ProfileSearch
    from wallwatch.lab.journal import JournalError

    try:
        if plan:
            _plan(dut, quota, out, seed, as_json)
            return
        search = ProfileSearch(quota)
        report = _measure(dut, quota, out, seed, search)
        files = _write(out, nf, search.found)
    except (BadDevice, JournalError) as problem:
        refuse(COMMAND, str(problem))
    except OSError as problem:
        refuse(COMMAND, f"{out} cannot be written: {problem.strerror}")
    _print(search.found, report, files, as_json)
    if report["stopped"] is not None:
        typer.echo(f"wallwatch nf profile: incomplete: {report['stopped']}; the same command continues", err=True)
        raise typer.Exit(INCOMPLETE)


def _measure(dut: str, quota: int, out: Path, seed: int, search: Any) -> dict[str, Any]:
    from wallwatch.lab import campaign
    from wallwatch.lab.function_profile import check
    from wallwatch.lab.journal import FILE_NAME, JournalError, read_journal
    from wallwatch.lab.options import CampaignOptions
    from wallwatch.lab.process import DeviceProcess

    hooks = _hooks(quota)
    if not (out / FILE_NAME).exists():
        process = DeviceProcess(dut, warn=hooks.on_warning)
        try:
            check(process.device, quota)  # before a folder is made
        finally:
            process.close()
        return campaign.run(out, dut, CampaignOptions(seed=seed), hooks, search)
    header = read_journal(out / FILE_NAME).header
    if header["dut"] != dut or header["options"]["seed"] != seed:
        raise JournalError(
            f"{out} has the journal of --dut {header['dut']!r} --seed {header['options']['seed']}: continue that, or choose another --out"
        )
    return campaign.resume(out, hooks, search=search)


def _plan(dut: str, quota: int, out: Path, seed: int, as_json: bool) -> None:
    from wallwatch.domain.lab.device import from_json, to_json
    from wallwatch.lab.function_profile import planned
    from wallwatch.lab.journal import FILE_NAME, read_journal
    from wallwatch.lab.process import DeviceProcess

    process = DeviceProcess(dut)
    try:
        device = process.device
    finally:
        process.close()
    answers = []
    if (out / FILE_NAME).exists():
        for line in read_journal(out / FILE_NAME).lines.values():
            if line["kind"] == "test" and line["status"] == "ok":
                answers.append((from_json(device, line["config"]), line["metrics"]))
    found = [to_json(config) for config in planned(device, quota, seed, answers)]
    if as_json:
        typer.echo(orjson.dumps(found).decode())
        return
    for config in found:
        typer.echo(" ".join(f"{name}={value}" for name, value in config.items()))
    if not found:
        typer.echo("the profile is complete")


def _write(out: Path, name: str, found: FunctionProfile) -> list[Path]:
    from wallwatch.domain.contention.profile_files import PATTERN_FILE
    from wallwatch.lab.function_profile import as_text, engine_rows

    files = []
    for kind, rows in (("mem_train", found.memory), ("reg_train", engine_rows(found)), ("own_load", found.own)):
        if rows:
            file = out / f"{name}_{kind}"
            file.write_text(as_text(rows))
            files.append(file)
    detected = found.accelerator.pattern
    if detected is not None and detected.pattern is not None:
        file = out / PATTERN_FILE
        file.write_text(f"{detected.pattern.value}\n")
        files.append(file)
    return files


def _print(found: FunctionProfile, report: dict[str, Any], files: list[Path], as_json: bool) -> None:
    engine, detected = found.accelerator.engine, found.accelerator.pattern
    answer = {
        "measured": report["tests"],
        "attributes": list(found.kept),
        "engine": None
        if engine is None
        else {
            "n": engine.queues,
            "t0": engine.t0,
            "t0_error": engine.t0_error,
            "a": engine.a,
            "a_error": engine.a_error,
            "n_fit": engine.queues_fit,
        },
        "pattern": None
        if detected is None
        else {
            "detected": detected.pattern,
            "margin": detected.margin,
            "errors": {one.value: error for one, error in detected.errors.items()},
        },
        "files": [str(file) for file in files],
        "complete": report["stopped"] is None,
    }
    if as_json:
        typer.echo(orjson.dumps(answer).decode())
    else:
        typer.echo(f"{report['tests']} configurations; throughput depends on {', '.join(found.kept) or 'contention only'}")
        if engine is not None:
            t0, a = _with_error(engine.t0, engine.t0_error), _with_error(engine.a, engine.a_error)
            typer.echo(f"accelerator: {engine.queues} queues, t = {t0} + {a} x MTBR (1/kpps, 90% intervals)")
            typer.echo(f"execution pattern: {_pattern(detected)}")
        for file in files:
            typer.echo(f"written: {file}")
    if found.accelerator.problem:
        typer.echo(f"wallwatch nf profile: the accelerator's times cannot be inferred: {found.accelerator.problem}", err=True)


def _with_error(value: float, error: float | None) -> str:
    return f"{value:.4g}" if error is None else f"({value:.4g} +/- {_NORMAL_90 * error:.2g})"


def _pattern(detected: Detected | None) -> str:
    if detected is None:
        return "undecided: the benches take too little of the throughput; set --pattern of nf train"
    errors = ", ".join(f"{pattern} is {error:.1%} off" for pattern, error in detected.errors.items())
    return f"{detected.pattern or 'undecided: set --pattern of nf train'} ({errors})"


def _hooks(quota: int) -> Hooks:
    from wallwatch.lab.options import Hooks

    def on_progress(progress: Progress) -> None:
        if progress.operations % 10 == 0:
            typer.echo(f"{progress.operations} measured, at most {quota}", err=True)

    return Hooks(on_progress=on_progress, on_warning=lambda line: typer.echo(line, err=True))
