"""`python -m tests.evaluation.judge DIR...`: run recorded telemetry through the classifier and compare its findings with the truth."""

from __future__ import annotations

from pathlib import Path

import orjson
import typer
from tests.evaluation.scoring.cases import cases
from tests.evaluation.scoring.run import evaluate_all
from tests.evaluation.scoring.scores import Result, summary
from tests.evaluation.scoring.tables import text

from wallwatch.recordings import NotARecording, find

app = typer.Typer()


@app.command()
def judge(
    folders: list[Path] = typer.Argument(metavar="DIR...", help="recordings of `fleetsim record`, or folders that contain some"),
    as_json: bool = typer.Option(False, "--json", help="print figures and all cases as one JSON object"),
    processes: int = typer.Option(1, "--processes", "-p", min=1, help="recordings to process in parallel"),
    most_cases: int = typer.Option(20, "--cases", min=0, help="how many of the worst cases to print"),
) -> None:
    """Run recorded telemetry through the code of `wallwatch job classify` and compare its findings with the truth in the recording."""

    def report_progress(result: Result) -> None:
        typer.echo(f"{result.name}: {result.messages} messages, {len(result.judged)} actual symptoms, {len(result.false)} false", err=True)

    try:
        results = evaluate_all(find(folders), processes, report_progress)
    except NotARecording as error:
        typer.echo(f"judge: {error}", err=True)
        raise typer.Exit(2) from error
    figures, worst = summary(results), cases(results)
    if as_json:
        typer.echo(orjson.dumps({**figures, "cases": worst}, option=orjson.OPT_INDENT_2).decode())
    else:
        typer.echo(text(figures, worst, most_cases))


if __name__ == "__main__":
    app()
