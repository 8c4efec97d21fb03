"""Commands of the local stack."""

from pathlib import Path
from typing import Annotated

import typer

from wallwatch_local import kafka, postgres, topics

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)

DataDir = Annotated[Path, typer.Option("--data-dir", help="Folder of the server's data; made if it is not there.")]
Port = Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1.")]


@app.command("postgres")
def run_postgres(data_dir: DataDir, port: Port) -> None:
    """Run PostgreSQL with TimescaleDB in the foreground."""
    postgres.run_in_foreground(data_dir, port)


@app.command("kafka")
def run_kafka(data_dir: DataDir, port: Port) -> None:
    """Run a Kafka broker in the foreground."""
    kafka.run_in_foreground(data_dir, port)


@app.command("topics")
def make_topics(bootstrap: Annotated[str, typer.Option(help="Address of the broker, host:port.")]) -> None:
    """Make the topics of topics.yaml that the broker lacks."""
    made = topics.create_topics(bootstrap)
    typer.echo(f"made {len(made)} topics" if made else "all topics are there")
