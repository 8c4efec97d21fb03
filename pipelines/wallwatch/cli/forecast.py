"""`wallwatch forecast ...`: train forecast models, list and compare them, and choose the one that forecasts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import typer

from wallwatch.settings import Settings

app = typer.Typer(help="Models that forecast loads, performance and walls.", no_args_is_help=True)

_REGISTRY = typer.Option(None, "--registry", help="folder of trained models; by default that of the job")
_REASON = typer.Option("", "--reason", help="reason, recorded with the change")
_RECORDINGS = typer.Option([], "--recordings", "-r", help="recordings of `fleetsim record` instead of the store")


def _fail(problem: Exception) -> typer.Exit:
    typer.echo(f"wallwatch forecast: {problem}", err=True)
    return typer.Exit(2)


@app.command()
def train(
    recordings: list[Path] = _RECORDINGS,
    days: float = typer.Option(7.0, "--days", min=0.05, help="days of the store's newest history to train on"),
    every_min: int = typer.Option(5, "--every", min=1, help="minutes between two training samples; a smaller number takes longer"),
    threads: int = typer.Option(1, "--threads", "-t", min=1, help="cores to train on"),
    cluster: str | None = typer.Option(
        None, "--cluster", metavar="HOST:PORT", help="scheduler of a Dask cluster whose workers read the store themselves"
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
        found.roles()  # report an unusable registry before minutes of work
        if recordings and cluster:
            raise typer.BadParameter("--cluster works on the store only: recordings are on this machine")
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
    compared = description.get("against_base")
    if compared:
        typer.echo(f"  loss on data that it was not trained on: {compared['loss']:.4f}, of the base model {compared['base_loss']:.4f}")
        if found.roles().champion is None:
            typer.echo(
                f"the base model continues to forecast, since it is better so far; the job compares both on live data. To use {model} now: "
                f"wallwatch forecast promote {model}"
            )
    typer.echo(f"trained in {time.monotonic() - began:.0f} s")


def _on_cluster(scheduler: str, first: int, last: int, every_min: int) -> tuple[Any, dict[str, Any]]:
    """Train on the workers of a Dask cluster, each with its part of the fleet."""
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
        typer.echo(f"no models of this fleet in {found.folder}: the base model forecasts. Train one: wallwatch forecast train")
    for meta in models:
        data = meta["data"]
        typer.echo(
            f"{meta['id']}  {meta['role']:<10} trained {meta['trained_at']} on {data['rnic_hours']} RNIC-hours to {data['to']} "
            f"({meta['source']})"
        )


@app.command()
def promote(
    model: str = typer.Argument(help="id of a model"),
    unjudged: bool = typer.Option(False, "--unjudged", help="also promote a model that has not beaten the champion on a day of live data"),
    reason: str = _REASON,
    registry: Path | None = _REGISTRY,
) -> None:
    """Promote the challenger to champion if it was better on live data; running jobs switch within a minute."""
    import psycopg

    from wallwatch.forecasting.live.promotion import NotBetter, better
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    settings = Settings()
    found = Registry(registry or settings.registry_dir)
    try:
        champion = found.roles().champion
        if champion not in (None, model) and not unjudged:
            verdict = better(settings.libpq_url, model, champion or "")
            reason = reason or verdict
        roles = found.promote(model, reason=reason)
    except (RegistryError, NotBetter) as problem:
        raise _fail(problem) from problem
    except psycopg.Error as problem:
        message = (
            f"cannot read from the database how {model} performs on live data ({str(problem).strip()}); use --unjudged to promote it anyway"
        )
        raise _fail(RegistryError(message)) from problem
    typer.echo(f"{model} is now the champion" + (f" (previously {champion})" if champion else ""))
    if roles.challenger is not None and roles.challenger == champion:
        typer.echo(
            f"{champion} is now the challenger: compare both with `wallwatch forecast models`, undo with `wallwatch forecast rollback`"
        )


@app.command()
def rollback(reason: str = _REASON, registry: Path | None = _REGISTRY) -> None:
    """Make the previous champion the champion again."""
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    try:
        roles = Registry(registry or Settings().registry_dir).roll_back(reason=reason)
    except RegistryError as problem:
        raise _fail(problem) from problem
    typer.echo(f"{roles.champion} is the champion again; {roles.challenger} is challenger")


@app.command()
def history(registry: Path | None = _REGISTRY) -> None:
    """List the model history (trained, promoted, rolled back, removed, and by whom), oldest first."""
    from wallwatch.forecasting.registry.folder import Registry, RegistryError

    try:
        changes = Registry(registry or Settings().registry_dir).roles().changes
    except RegistryError as problem:
        raise _fail(problem) from problem
    for change in changes:
        why = f": {change.reason}" if change.reason else ""
        before = change.champion_before or "none"
        typer.echo(f"{change.at[:19]}Z  {change.action:<11} {change.model} (previous champion: {before}) by {change.by}{why}")
