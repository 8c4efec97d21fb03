"""`wallwatch nf train`, `nf evaluate` and `nf predict`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

from wallwatch.cli.native_output import native_output_on_stderr
from wallwatch.cli.nf_input import MODEL, YALA, read_model, read_rows, read_text, refuse

if TYPE_CHECKING:
    from wallwatch.domain.contention.function_model import FunctionModel, Predictions


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command("train")(train)
    app.command("evaluate")(evaluate)
    app.command("predict")(predict)


def train(
    profiles: Path = typer.Option(metavar="DIR", help="folder with *mem_train, and optionally *reg_train, *slomo_train and *own_load"),
    out: Path = typer.Option(metavar="MODEL", help="file of the model (JSON)"),
    nf: str = typer.Option("", metavar="NAME", help="name of the function; with several in DIR, only files that contain it"),
    pattern: str = typer.Option("", help="execution pattern: pipeline or run_to_completion; default: DIR/pattern, else pipeline"),
    seed: int = typer.Option(0, help="of the cross-validation and the trees", min=0),
    as_json: bool = typer.Option(False, "--json", help="print the figures of the cross-validation as JSON"),
) -> None:
    """Train the model of one network function on its profiles.

    Exit code 2: profiles that cannot be used; each bad value is named with row and column.
    """
    from wallwatch.domain.contention.composition import Pattern
    from wallwatch.domain.contention.profile_files import (
        PATTERN_FILE,
        ProfileFile,
        ProfileKind,
        UnusableProfiles,
        read_profiles,
        train_profiles,
    )
    from wallwatch.domain.contention.profile_rows import BadProfile

    if not profiles.is_dir():
        refuse("train", f"{profiles} is not a folder")
    detected = profiles / PATTERN_FILE
    if not pattern:
        pattern = read_text("train", detected).strip() if detected.is_file() else Pattern.PIPELINE
    if pattern not in list(Pattern):
        refuse("train", f"the pattern (--pattern or {detected}) must be {' or '.join(Pattern)}, not {pattern}")
    files = [file for kind in ProfileKind if (file := _profile(profiles, kind, nf)) is not None]
    try:
        read = read_profiles([ProfileFile(file.name, read_text("train", file)) for file in files])
        with native_output_on_stderr():
            model = train_profiles(nf or profiles.resolve().name, read, Pattern(pattern), seed)
    except BadProfile as problem:
        refuse("train", f"{profiles}: bad measurements\n{problem}")
    except UnusableProfiles as problem:
        refuse("train", f"{profiles}: {problem}")
    _write(out, orjson.dumps(model.as_json(), option=orjson.OPT_SORT_KEYS))
    if model.engine is None:
        typer.echo("wallwatch nf train: no accelerator profile (*reg_train): the model knows memory contention only", err=True)
    figures = model.memory.cross_validation
    if as_json:
        card = {"function": model.name, "cross_validation": dict(figures), "ranges": dict(model.ranges), "data": dict(model.data)}
        typer.echo(orjson.dumps(card).decode())
        return
    typer.echo(f"{model.name}: {out}, {pattern}, trained on {len(read.rows[ProfileKind.MEMORY])} rows")
    shares = f"within 5% {figures['within_5']:.1f}%, within 10% {figures['within_10']:.1f}%"
    typer.echo(f"cross-validation (memory): MAPE {figures['mape']:.2f}%, {shares}")


def evaluate(
    file: Path = typer.Argument(metavar="FILE", help="measured rows; - is stdin"),
    model: Path = MODEL,
    file_format: str = typer.Option(
        YALA, "--format", help="yala: mtbr, competitors' times, flows, packet size, seven counters, measured kpps; without header"
    ),
    as_json: bool = typer.Option(False, "--json", help="mape, within_5, within_10, coverage_90 (all in percent) and n"),
) -> None:
    """Compare predictions with measurements.

    Exit code 2: a model or rows that cannot be used.
    """
    from wallwatch.domain.contention.accuracy import accuracy
    from wallwatch.domain.contention.profile_columns import EVALUATION, QUERY

    if file_format != YALA:
        refuse("evaluate", f"--format must be {YALA}, not {file_format}")
    trained = read_model("evaluate", model)
    rows = read_rows("evaluate", file, EVALUATION)
    found = _predicted("evaluate", trained, rows[:, : len(QUERY)])
    figures = accuracy(rows[:, -1], found.throughput, found.low, found.high)
    width = figures.pop("width_90")
    outside = sorted({name for names in found.outside for name in names})
    if outside:
        count = sum(bool(names) for names in found.outside)
        typer.echo(
            f"wallwatch nf evaluate: {count} rows leave the training range in {', '.join(outside)}; their intervals are widened", err=True
        )
    if as_json:
        typer.echo(orjson.dumps(figures).decode())
        return
    typer.echo(f"rows                {figures['n']}")
    typer.echo(f"MAPE                {figures['mape']:.2f}%")
    typer.echo(f"within 5%, 10%      {figures['within_5']:.1f}%, {figures['within_10']:.1f}%")
    typer.echo(f"inside 90% interval {figures['coverage_90']:.1f}% (mean width {width:.1f}% of the prediction)")


def predict(
    file: Path = typer.Argument(metavar="FILE", help="rows or scenarios to predict; - is stdin"),
    model: Path = MODEL,
    file_format: str = typer.Option(
        YALA, "--format", help="yala: rows as of evaluate, measurement optional; json: traffic and competitors"
    ),
    as_json: bool = typer.Option(False, "--json", help="one object per row"),
) -> None:
    """Predict throughput next to competitors, with 90% intervals.

    Exit code 2: a model or rows that cannot be used.
    """
    from wallwatch.cli.nf_scenario import read_queries

    trained = read_model("predict", model)
    rows, _ = read_queries("predict", file, file_format)
    found = _predicted("predict", trained, rows)
    answers = [
        {
            "throughput_kpps": float(found.throughput[at]),
            "low_kpps": float(found.low[at]),
            "high_kpps": float(found.high[at]),
            "memory_kpps": float(found.memory[at]),
            "engine_kpps": None if trained.engine is None else float(found.engine[at]),
            "outside_training_range": list(found.outside[at]),
        }
        for at in range(len(rows))
    ]
    if as_json:
        typer.echo(orjson.dumps(answers).decode())
        return
    for at, answer in enumerate(answers):
        note = f"  outside of the training range: {', '.join(found.outside[at])}" if found.outside[at] else ""
        typer.echo(f"{at + 1:>5} {answer['throughput_kpps']:>9.1f} kpps  {answer['low_kpps']:.1f} to {answer['high_kpps']:.1f}{note}")


def _predicted(command: str, trained: FunctionModel, rows: object) -> Predictions:
    try:
        return trained.predict(rows)  # type: ignore[arg-type]  # arrays: numpy is not imported here, for quick help
    except ValueError as problem:
        refuse(command, str(problem))


def _profile(folder: Path, kind: str, name: str) -> Path | None:
    found = sorted(file for file in folder.glob(f"*{kind}*") if file.is_file())
    if name and len(found) > 1:
        found = [file for file in found if name.lower() in file.name.lower()]
    if len(found) > 1:
        refuse("train", f"{folder} has several files *{kind}* ({', '.join(file.name for file in found)}): choose the function with --nf")
    return found[0] if found else None


def _write(out: Path, content: bytes) -> None:
    """Write under a temporary name and rename: a reader never sees half a model."""
    try:
        handle, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(out)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as problem:
        refuse("train", f"{out} cannot be written: {problem.strerror}")
