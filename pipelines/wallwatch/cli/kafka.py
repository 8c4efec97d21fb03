"""`wallwatch kafka ...`: certificates of a broker of our own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wallwatch.store.kafka_authority import BadName
from wallwatch.store.kafka_certificates import CertificateProblem, KafkaCertificates, Outcome

app = typer.Typer(help="Certificates of the bundled Kafka broker.", no_args_is_help=True)

Folder = Annotated[
    Path, typer.Option(envvar="WALLWATCH_KAFKA_CERTIFICATES_DIR", help="where the certificates are", file_okay=False, resolve_path=True)
]
Names = Annotated[
    list[str],
    typer.Option(
        "--name",
        envvar="WALLWATCH_KAFKA_CERTIFICATE_NAMES",
        help="name or address by which clients call the broker; repeat it for each (in the variable: separated by spaces)",
    ),
]


def _fail(problem: Exception) -> typer.Exit:
    typer.echo(str(problem), err=True)
    return typer.Exit(1)


def _report(outcome: Outcome) -> None:
    for change in outcome.changes or ("nothing had to change",):
        typer.echo(change)
    typer.echo(f"the broker's certificate ends on {outcome.broker_until:%Y-%m-%d}")


@app.command()
def certificates(folder: Folder, names: Names) -> None:
    """Create the authority and the broker's certificate where they are missing; renew the certificate when names change or it ends soon.

    It can be repeated at each start. A broker reads its certificate when it starts.
    """
    try:
        _report(KafkaCertificates(folder).ensure(names, datetime.now(UTC)))
    except (BadName, CertificateProblem) as problem:
        raise _fail(problem) from problem


@app.command("rotate-authority")
def rotate_authority(folder: Folder) -> None:
    """Begin a new authority: clients that get the new ca.pem trust both, the broker keeps its certificate for now."""
    broker = KafkaCertificates(folder)
    try:
        broker.rotate(datetime.now(UTC))
    except CertificateProblem as problem:
        raise _fail(problem) from problem
    typer.echo(f"give {broker.ca_file} to every client and restart them; then run `wallwatch kafka end-former-authority`")


@app.command("end-former-authority")
def end_former_authority(folder: Folder, names: Names) -> None:
    """End a rotation: the broker's certificate comes from the new authority, and the former is trusted no longer."""
    try:
        _report(KafkaCertificates(folder).end_former(datetime.now(UTC), names))
    except (BadName, CertificateProblem) as problem:
        raise _fail(problem) from problem
    typer.echo("restart the broker now, then the processes of the server, and give ca.pem to the hosts")
