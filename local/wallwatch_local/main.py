"""Commands of the local stack."""

from pathlib import Path
from typing import Annotated

import typer

from wallwatch_local import demo, kafka, postgres, reset
from wallwatch_local.errors import LocalStackError

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


@app.command("demo")
def run_demo(scenario: Annotated[str, typer.Option(help="Name of a file in tests/scenarios; ? lists them.")] = "demo") -> None:
    """Run the whole product with a simulated fleet until Ctrl-C."""
    raise typer.Exit(demo.run(scenario))


@app.command("demo-reset")
def reset_demo() -> None:
    """Remove the demo's state."""
    try:
        typer.echo("removed the demo's state" if reset.reset() else "there is no state to remove")
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
