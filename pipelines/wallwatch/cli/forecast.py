"""`wallwatch forecast ...`: train models of what is ahead, judge them, and say which of them forecasts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import typer

from wallwatch.settings import Settings

app = typer.Typer(help="Models that forecast loads, performance and walls.", no_args_is_help=True)

_REGISTRY = typer.Option(None, "--registry", help="folder of trained models (that of the job unless given)")
_REASON = typer.Option("", "--reason", help="why; it is kept with the change")
_RECORDINGS = typer.Option([], "--recordings", "-r", help="recordings of `fleetsim record` in place of the store")


def _fail(problem: Exception) -> typer.Exit:
    typer.echo(f"wallwatch forecast: {problem}", err=True)
    return typer.Exit(2)


@app.command()
def train(
    recordings: list[Path] = _RECORDINGS,
    days: float = typer.Option(7.0, "--days", min=0.05, help="of the store's newest minutes to learn from"),
    every_min: int = typer.Option(5, "--every", min=1, help="minutes between two moments that are learnt from; fewer take longer"),
    threads: int = typer.Option(1, "--threads", "-t", min=1, help="cores to train on"),
    cluster: str | None = typer.Option(
        None, "--cluster", metavar="HOST:PORT", help="scheduler of a Dask cluster, whose workers read the store themselves"
    ),
    registry: Path | None = _REGISTRY,
) -> None:
    """Train on the fleet's history (or on recordings) and store the model: the first is champion, later ones are challengers."""
    import psycopg

    from wallwatch.forecasting.histories import from_store
    from wallwatch.forecasting.histories.from_recordings import read_history
    from wallwatch.forecasting.registry.folder import Registry, RegistryError
    from wallwatch.forecasting.training.train import TooLittle
    from wallwatch.forecasting.training.train import train as learn
    from wallwatch.recordings import NotARecording, find

    settings = Settings()
    began = time.monotonic()
    found = Registry(registry or settings.registry_dir)
    last = int(time.time() // 60)
    first = last - round(days * 1440)
    try:
        found.roles()  # a registry that cannot be used is told before minutes of work
        if recordings and cluster:
            raise typer.BadParameter("--cluster is for the store: recordings are on this machine")
        if cluster:
            forecaster, description = _on_cluster(cluster, first, last, every_min)
        elif recordings:
            forecaster, description = learn([read_history(folder) for folder in find(recordings)], every_min, threads)
        else:
            with psycopg.connect(settings.libpq_url, connect_timeout=5, application_name="wallwatch-train") as connection:
                histories = from_store.read_histories(connection, first, last)
            forecaster, description = learn(histories, every_min, threads)
        model = found.save(forecaster, {**description, "source": "recordings" if recordings else "store"})
    except (NotARecording, TooLittle, RegistryError, psycopg.OperationalError, OSError) as problem:
        raise _fail(problem) from problem
    data = description["data"]
    typer.echo(f"{model} ({found.roles().of(model)}): {data['rnic_hours']} RNIC-hours from {data['from']} to {data['to']}")
    for target, metrics in description["metrics"].items():
        typer.echo(f"  {target}: {metrics['mean_share']:.2%} of the wall at 15 minutes, interval covers {metrics['coverage']:.1%}")
    typer.echo(f"trained in {time.monotonic() - began:.0f} s")


def _on_cluster(scheduler: str, first: int, last: int, every_min: int) -> tuple[Any, dict[str, Any]]:
    """Train where the workers of a Dask cluster have the parts of the fleet."""
    import psycopg
    from dask.distributed import Client

    from wallwatch.forecasting.histories import from_store
    from wallwatch.forecasting.training import distributed

    with psycopg.connect(Settings().libpq_url, connect_timeout=5, application_name="wallwatch-train") as connection:
        parts = from_store.parts_of_fleet(connection)
    with Client(scheduler, timeout=10) as client:  # type: ignore[no-untyped-call]  # its constructor has no types
        return distributed.train(client, distributed.of_the_store(parts, first, last), every_min)


@app.command(name="models")
def list_models(as_json: bool = typer.Option(False, "--json", help="print a JSON list"), registry: Path | None = _REGISTRY) -> None:
    """List the trained models, oldest first."""
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    found = Registry(registry or Settings().registry_dir)
    try:
        models = found.describe(lambda problem: typer.echo(problem, err=True))
    except RegistryError as problem:
        raise _fail(problem) from problem
    if as_json:
        typer.echo(orjson.dumps(models, option=orjson.OPT_INDENT_2).decode())
        return
    if not models:
        typer.echo(f"no models in {found.folder}; forecasts start cold. Train one: wallwatch forecast train")
    for meta in models:
        data = meta["data"]
        typer.echo(
            f"{meta['id']}  {meta['role']:<10} trained {meta['trained_at']} on {data['rnic_hours']} RNIC-hours to {data['to']} "
            f"({meta['source']})"
        )


@app.command()
def promote(
    model: str = typer.Argument(help="id of a model"),
    unjudged: bool = typer.Option(False, "--unjudged", help="also a model that was not better than the champion on live data for a day"),
    reason: str = _REASON,
    registry: Path | None = _REGISTRY,
) -> None:
    """Make the challenger champion, if it was better on live data; running jobs follow within a minute."""
    import psycopg

    from wallwatch.forecasting.live.promotion import NotBetter, better
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    settings = Settings()
    found = Registry(registry or settings.registry_dir)
    try:
        champion = found.roles().champion
        if champion not in (None, model) and not unjudged:
            told = better(settings.libpq_url, model, champion or "")
            reason = reason or told
        roles = found.promote(model, reason=reason)
    except (RegistryError, NotBetter) as problem:
        raise _fail(problem) from problem
    except psycopg.Error as problem:
        told = f"the database does not tell how {model} fares on live data ({str(problem).strip()}); --unjudged promotes it without"
        raise _fail(RegistryError(told)) from problem
    typer.echo(f"{model} is the champion" + (f", {champion} before" if champion else ""))
    if roles.challenger is not None and roles.challenger == champion:
        typer.echo(
            f"{champion} stays as challenger: `wallwatch forecast models` shows if that was right, `wallwatch forecast rollback` undoes it"
        )


@app.command()
def rollback(reason: str = _REASON, registry: Path | None = _REGISTRY) -> None:
    """Make the champion before the present one champion again."""
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    try:
        roles = Registry(registry or Settings().registry_dir).roll_back(reason=reason)
    except RegistryError as problem:
        raise _fail(problem) from problem
    typer.echo(f"{roles.champion} is the champion again; {roles.challenger} is challenger")


@app.command()
def history(registry: Path | None = _REGISTRY) -> None:
    """List what became of the models and who did it, oldest first."""
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    try:
        changes = Registry(registry or Settings().registry_dir).roles().changes
    except RegistryError as problem:
        raise _fail(problem) from problem
    for one in changes:
        why = f": {one.reason}" if one.reason else ""
        typer.echo(f"{one.at[:19]}Z  {one.action:<11} {one.model} (champion before: {one.champion_before or 'none'}) by {one.by}{why}")
