"""`wallwatch topics ...`: Kafka's topics, as `topics.yaml` declares them."""

from __future__ import annotations

import typer

from wallwatch.settings import Settings

app = typer.Typer(help="Kafka's topics.", no_args_is_help=True)


@app.command()
def create(
    partitions: int | None = typer.Option(None, min=1, help="partitions per topic instead of the declared number"),
    replication: int = typer.Option(1, min=1, help="replicas per topic"),
) -> None:
    """Create missing topics; existing topics stay unchanged."""
    from wallwatch.jobs.topics import create_topics

    for name, outcome in create_topics(Settings(), partitions, replication).items():
        typer.echo(f"{name}: {outcome}")
