"""`wallwatch job ...`: run one stream job in the foreground until SIGINT or SIGTERM."""

from __future__ import annotations

import logging
import signal

import typer

from wallwatch.settings import Settings

app = typer.Typer(help="Run a stream job.", no_args_is_help=True)


def _log(settings: Settings) -> None:
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


@app.command()
def ingest() -> None:
    """Read telemetry and findings from Kafka and write them to TimescaleDB."""
    from wallwatch.jobs.ingest import Ingest

    settings = Settings()
    _log(settings)
    job = Ingest(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()


@app.command()
def classify() -> None:
    """Detect symptoms in the telemetry from Kafka and write findings to Kafka."""
    from wallwatch.jobs import compiled_stage

    settings = Settings()
    _log(settings)
    compiled_stage.use()
    from wallwatch.jobs.classify import Classify

    job = Classify(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()


@app.command()
def validate() -> None:
    """Run cross-host policies over the events from Kafka and write violations to Kafka."""
    from wallwatch.jobs.validate import Validate

    settings = Settings()
    _log(settings)
    job = Validate(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()


@app.command()
def forecast() -> None:
    """Once per minute, read the last hour of each RNIC from TimescaleDB and write forecasts to Kafka."""
    from wallwatch.jobs.forecast import ForecastJob

    settings = Settings()
    _log(settings)
    job = ForecastJob(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()


@app.command()
def lab() -> None:
    """Run campaigns of the lab on the devices of WALLWATCH_LAB_DEVICES, and write their journals and reports to the database."""
    from wallwatch.jobs.lab import LabJob

    settings = Settings()
    _log(settings)
    job = LabJob(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()


@app.command()
def isolation() -> None:
    """Judge the traffic of VFs from Kafka second by second and write broken promises and findings to Kafka."""
    from wallwatch.jobs.isolation import IsolationJob

    settings = Settings()
    _log(settings)
    job = IsolationJob(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job.stop())
    job.run()
