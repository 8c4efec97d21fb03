"""Entry point of the `wallwatch` command."""

import typer

app = typer.Typer(help="Wallwatch: see the scalability walls of RDMA NICs.", no_args_is_help=True)
