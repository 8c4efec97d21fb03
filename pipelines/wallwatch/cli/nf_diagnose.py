"""`wallwatch nf diagnose`: which resource binds a function, how much comes back, who contributes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import typer

from wallwatch.cli.nf_input import MODEL, YALA, read_model, refuse

if TYPE_CHECKING:
    from wallwatch.cli.nf_scenario import Scenario
    from wallwatch.domain.contention.function_model import FunctionModel
    from wallwatch.domain.contention.gaussian_process import Array

MEMORY, ENGINE = "memory", "regex"


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("diagnose")(diagnose)


def diagnose(
    file: Path = typer.Argument(metavar="FILE", help="rows or scenarios; - is stdin"),
    model: Path = MODEL,
    file_format: str = typer.Option(
        YALA, "--format", help="yala: rows as of evaluate; json: traffic and competitors, which names contributors"
    ),
    as_json: bool = typer.Option(False, "--json", help="one object per row"),
) -> None:
    """Say which resource binds a function, how much throughput comes back without its contention, and who contributes.

    Exit code 2: a model or rows that cannot be used.
    """
    from wallwatch.cli.nf_scenario import read_queries

    trained = read_model("diagnose", model)
    rows, scenarios = read_queries("diagnose", file, file_format)
    try:
        answers = _diagnosed(trained, rows)
    except ValueError as problem:
        refuse("diagnose", str(problem))
    for at, scenario in enumerate(scenarios or []):
        answers[at]["contributors_kpps"] = _contributors(trained, scenario)
    if as_json:
        typer.echo(orjson.dumps(answers).decode())
        return
    for at, answer in enumerate(answers, 1):
        typer.echo(_text(at, answer))


def _diagnosed(trained: FunctionModel, rows: Array) -> list[dict[str, Any]]:
    """One answer per row. What binds is judged by the slower stage even where nothing contends: `binding` next to `bottleneck`."""
    from wallwatch.domain.contention.diagnosis import diagnose as judge
    from wallwatch.domain.contention.diagnosis import shift_at

    found, alone = trained.predict(rows), trained.alone(rows)
    only = {MEMORY: trained.only_memory_contended(rows), ENGINE: trained.only_engine_contended(rows)}
    if trained.engine is None:
        del only[ENGINE]
    answers = []
    for at, solo in enumerate(alone):
        verdict = judge(trained.pattern, float(solo), {name: min(float(values[at]), float(solo)) for name, values in only.items()})
        engine = trained.engine
        shift = None
        if engine is not None:
            shift = shift_at(float(found.memory[at]), float(rows[at, 1]), engine.t0, engine.per_match(float(rows[at, 3])), engine.queues)
        answers.append(
            {
                "bottleneck": verdict.bottleneck,
                "binding": ENGINE if found.engine[at] < found.memory[at] else MEMORY,
                "throughput_kpps": float(found.throughput[at]),
                "solo_kpps": float(solo),
                "comes_back_kpps": verdict.comes_back,
                "shares": dict(verdict.shares),
                "shifts_at_mtbr": shift,
                "outside_training_range": list(found.outside[at]),
            }
        )
    return answers


def _contributors(trained: FunctionModel, scenario: Scenario) -> dict[str, float]:
    import numpy as np

    from wallwatch.domain.contention.diagnosis import contributions

    def throughput_without(place: int | None) -> float:
        return float(trained.predict(np.array([scenario.row(place)])).throughput[0])

    return contributions([competitor.name for competitor in scenario.competitors], throughput_without)


def _text(at: int, answer: dict[str, Any]) -> str:
    line = f"{at:>5} {answer['throughput_kpps']:.1f} of {answer['solo_kpps']:.1f} kpps: "
    if answer["bottleneck"] is None:
        line += f"no contention; {answer['binding']} is the slower stage"
    else:
        line += f"{answer['bottleneck']} binds, {answer['comes_back_kpps']:.1f} kpps come back without its contention"
    if answer["shifts_at_mtbr"] is not None:
        line += f"; {ENGINE} binds above {answer['shifts_at_mtbr']:.0f} matches/MB"
    for name, loss in answer.get("contributors_kpps", {}).items():
        line += f"\n        {name} takes {loss:.1f} kpps"
    return line
