"""Entry point of the `wallwatch` command."""

from __future__ import annotations

import typer

from wallwatch.cli import calibrate, db, evaluate, forecast, generate, job, ltl, plan, policy, predict, status, topics
from wallwatch.cli.plugins import CommandsOfOtherParts

app = typer.Typer(cls=CommandsOfOtherParts, help="Wallwatch: see the scalability walls of RDMA NICs.", no_args_is_help=True)
app.add_typer(job.app, name="job")
app.add_typer(topics.app, name="topics")
app.add_typer(db.app, name="db")
app.add_typer(generate.app, name="generate")
app.add_typer(ltl.app, name="ltl")
app.add_typer(policy.app, name="policy")
app.add_typer(forecast.app, name="forecast")
app.add_typer(calibrate.app, name="calibrate")
app.command(name="predict")(predict.predict)
app.command(name="status")(status.status)
app.command(name="evaluate")(evaluate.evaluate)
app.command(name="plan")(plan.plan)
