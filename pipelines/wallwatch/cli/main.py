"""Entry point of the `wallwatch` command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import typer

from wallwatch.cli.lazy import Command, LazyGroup


class Commands(LazyGroup):
    """All commands, in the order of `wallwatch --help`."""

    COMMANDS: ClassVar[Mapping[str, Command]] = {
        "status": Command(
            "wallwatch.cli.status:status",
            "Show whether the API, Kafka, the stream jobs and the database are healthy; exit code 1 when one is not.",
        ),
        "incidents": Command("wallwatch.cli.remote.incidents:app", "Incidents: list, acknowledge, resolve, comment, assign, link tickets."),
        "fleet": Command("wallwatch.cli.remote.fleet:app", "The fleet: RNICs, their nearest limits, and forecasts."),
        "remedies": Command("wallwatch.cli.remote.remedies:app", "Remedies: list, approve, reject, undo; the emergency stop."),
        "silences": Command("wallwatch.cli.remote.silences:app", "Silences and maintenance windows: list, create, end."),
        "hosts": Command("wallwatch.cli.hosts:app", "Hosts: their agents and telemetry keys."),
        "profile": Command("wallwatch.cli.remote.profile:app", "Profiles: servers and tokens of the commands over the API."),
        "export": Command(
            "wallwatch.cli.remote.declared:export",
            "Print webhooks, policies, silences and SLOs as a file that `wallwatch apply` takes; without secrets.",
        ),
        "apply": Command(
            "wallwatch.cli.remote.declared:apply",
            "Make a server's webhooks, policies, silences and SLOs equal to a file; a second time changes nothing.",
        ),
        "api": Command("wallwatch.cli.remote.api:app", "Any operation of the API, as JSON."),
        "job": Command("wallwatch.cli.job:app", "Run a stream job."),
        "topics": Command("wallwatch.cli.topics:app", "Kafka's topics."),
        "kafka": Command("wallwatch.cli.kafka:app", "Certificates of the bundled Kafka broker."),
        "db": Command("wallwatch.cli.db:app", "The database's schema."),
        "predict": Command(
            "wallwatch.cli.predict:predict",
            "Predict bandwidth and latency from mask lookups per packet, with intervals (the model of docs/calibration.md).",
        ),
        "calibrate": Command("wallwatch.cli.calibrate:app", "Refit the performance model of an RNIC to measurements."),
        "forecast": Command("wallwatch.cli.forecast:app", "Models that forecast loads, performance and walls."),
        "plan": Command(
            "wallwatch.cli.plan:plan",
            "Plan which masks an RNIC should try first, with steps and proof; or prove two flow dumps equivalent.",
        ),
        "policy": Command("wallwatch.cli.policy:app", "Policies: temporal logic over events of flows, virtual functions, RNICs and hosts."),
        "ltl": Command("wallwatch.cli.ltl:app", "Temporal logic: what a formula means, its monitor, and its verdicts on a trace."),
        "vnic": Command("wallwatch.cli.vnic:app", "Isolation of virtual functions: broken promises, victims, aggressors, fair shares."),
        "nf": Command("wallwatch.cli.nf:app", "Network functions that share a SmartNIC: predicted throughput, bottlenecks, placement."),
        "lab": Command("wallwatch.cli.lab:app", "Find which settings make an RNIC fall over, and at which value, with few tests."),
        "capture": Command("wallwatch.cli.capture:app", "Captures of RoCEv2: retransmissions, violations, congestion notification."),
        "transport": Command(
            "wallwatch.cli.transport:app",
            "Transport tests: check descriptions, plan what a switch injects, run them, search for anomalies.",
        ),
        "generate": Command("wallwatch.cli.generate:app", "Generate files from the registry and the catalogue."),
    }


app = typer.Typer(cls=Commands, help="Wallwatch: see the scalability walls of RDMA NICs.", no_args_is_help=True, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"wallwatch {version('wallwatch')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)] = False,
) -> None:
    """Commands are in `Commands`; this takes the options that come before one."""
