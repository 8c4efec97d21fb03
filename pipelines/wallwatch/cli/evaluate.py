"""`wallwatch evaluate DIR...`: recorded telemetry through the classifier, its findings against the truth."""

from __future__ import annotations

from pathlib import Path

import orjson
import typer


def evaluate(
    folders: list[Path] = typer.Argument(metavar="DIR...", help="recordings as `fleetsim record` writes them, or folders that hold some"),
    as_json: bool = typer.Option(False, "--json", help="print figures and all cases as one JSON object"),
    processes: int = typer.Option(1, "--processes", "-p", min=1, help="recordings that are worked on at the same time"),
    most_cases: int = typer.Option(20, "--cases", min=0, help="how many of the worst cases to print"),
) -> None:
    """Run recorded telemetry through the code of `wallwatch job classify` and compare its findings with the truth beside it."""
    from wallwatch.evaluation.cases import cases
    from wallwatch.evaluation.recording import NotARecording, find
    from wallwatch.evaluation.report import text
    from wallwatch.evaluation.run import evaluate_all
    from wallwatch.evaluation.scores import Result, summary

    def say(result: Result) -> None:
        typer.echo(f"{result.name}: {result.messages} messages, {len(result.judged)} symptoms there, {len(result.false)} false", err=True)

    try:
        results = evaluate_all(find(folders), processes, say)
    except NotARecording as error:
        typer.echo(f"wallwatch evaluate: {error}", err=True)
        raise typer.Exit(2) from error
    figures, worst = summary(results), cases(results)
    if as_json:
        typer.echo(orjson.dumps({**figures, "cases": worst}, option=orjson.OPT_INDENT_2).decode())
    else:
        typer.echo(text(figures, worst, most_cases))
