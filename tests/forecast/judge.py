"""`python -m tests.forecast.judge DIR...`: compare forecasts of recordings with the performance of their RNICs' mechanism."""

from __future__ import annotations

from pathlib import Path

import orjson
import typer
from tests.forecast.scoring.baselines import SupportVectors, linear, persistence
from tests.forecast.scoring.tally import Baseline, Tally, judge, summary
from tests.forecast.scoring.text import figures
from tests.forecast.scoring.truth import measured

from wallwatch.forecasting.histories.from_recordings import read_history
from wallwatch.forecasting.registry.folder import Registry, RegistryError
from wallwatch.recordings import NotARecording, find
from wallwatch.settings import Settings

app = typer.Typer()


@app.command()
def judge_forecasts(
    folders: list[Path] = typer.Argument(metavar="DIR...", help="recordings made with `fleetsim record --performance`, unseen in training"),
    model: str | None = typer.Option(None, "--model", help="id of the model; default: the champion"),
    cold: bool = typer.Option(False, "--cold", help="evaluate the cold start: only the physical model and a damped trend"),
    baseline_folders: list[Path] = typer.Option([], "--baselines-from", help="recordings to train the SVM of flow features on"),
    every_min: int = typer.Option(1, "--every", min=1, help="minutes between two forecasts"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON object"),
    registry: Path | None = typer.Option(None, "--registry", help="folder of trained models; by default that of the job"),
) -> None:
    """Forecast recordings minute by minute, and compare with the performance of their RNICs' mechanism."""

    models = Registry(registry or Settings().registry_dir)
    try:
        wanted = model or models.roles().champion
        if wanted is None and not cold:
            raise RegistryError(f"{models.folder} has no champion: train a model first, or evaluate the cold start with --cold")
        forecaster = None if cold or wanted is None else models.load(wanted)
        baselines: dict[str, Baseline] = {"persistence": persistence, "linear trend": linear}
        if baseline_folders:
            histories = [read_history(folder) for folder in find(baseline_folders)]
            truths = [measured(folder, history) for folder, history in zip(find(baseline_folders), histories, strict=True)]
            baselines["SVM on flow features"] = SupportVectors().fit(histories, truths)
        tally = Tally()
        for folder in find(folders):
            history = read_history(folder)
            judge(history, measured(folder, history), forecaster, tally, baselines, every_min)
            typer.echo(f"{folder.name}: {len(history.names)} RNICs, {history.minutes} minutes", err=True)
    except (NotARecording, RegistryError, FileNotFoundError) as problem:
        typer.echo(f"judge: {problem}", err=True)
        raise typer.Exit(2) from problem
    found = {"model": None if cold else wanted, **summary(tally)}
    typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() if as_json else figures(found))


if __name__ == "__main__":
    app()
