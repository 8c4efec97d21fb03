"""`wallwatch topics ...`: Kafka's topics, as `topics.yaml` declares them."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from wallwatch.settings import Settings

app = typer.Typer(help="Kafka's topics.", no_args_is_help=True)


@app.command()
def create(
    partitions: int | None = typer.Option(None, min=1, help="partitions per topic instead of the declared number"),
    replication: int = typer.Option(1, min=1, help="replicas per topic"),
    passwords: Path | None = typer.Option(
        None,
        envvar="WALLWATCH_KAFKA_PASSWORDS_DIR",
        help="folder with a file for each user, named after it, which holds its password; missing files are created with random ones",
        file_okay=False,
    ),
) -> None:
    """Create missing topics; existing topics stay unchanged.

    Where the broker asks who somebody is, also grant each role the rights that topics.yaml declares, and revoke others. With passwords,
    from a folder or from WALLWATCH_KAFKA_PASSWORD_HOST, _INGEST, _CLASSIFY, _ISOLATION, _VALIDATE, _FORECAST and _BACKEND, also create
    these users or change their passwords (SCRAM-SHA-512). Sign in as a superuser of the broker.
    """
    from wallwatch import kafka_clients
    from wallwatch.jobs import kafka_access
    from wallwatch.jobs.topics import create_topics
    from wallwatch.store.password_files import PasswordProblem

    settings = Settings()
    for name, outcome in create_topics(settings, partitions, replication).items():
        typer.echo(f"{name}: {outcome}")
    if not settings.kafka_asks_who:
        typer.echo("the broker asks nobody who they are: any process that reaches it can read and write (docs/operating.md)")
        return
    try:
        known = kafka_access.passwords_of(passwords) if passwords is not None else {}
        known |= kafka_access.passwords_in(os.environ)
    except PasswordProblem as problem:
        raise typer.BadParameter(str(problem)) from problem
    changed = kafka_access.apply(kafka_clients.admin(settings), known)
    typer.echo(f"rights: {changed.granted} granted, {changed.revoked} revoked; passwords of {changed.users} users set")


@app.command()
def singles() -> None:
    """Turn blocks, one per line on standard input, into single messages, one per line.

    Other lines pass as they are, without telemetry keys. What cannot be read is reported on standard error, and makes the exit status 1.

    Example: kcat -b localhost:9092 -t wallwatch.blocks | wallwatch topics singles
    """
    import sys

    from wallwatch.domain.telemetry.blocks import BlockReader, single
    from wallwatch.domain.telemetry.decode import Refused
    from wallwatch.domain.telemetry.keys import without_keys

    reader, latest_ns, wrong = BlockReader(), 2**63 - 1, 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        if b'"rows":' not in line:
            sys.stdout.buffer.write(without_keys(line))
            continue
        try:
            name, samples, refused, _ = reader.read(line, latest_ns)
        except Refused as refusal:
            wrong += 1
            typer.echo(f"line {number}: {refusal}", err=True)
            continue
        for sample in samples:
            sys.stdout.buffer.write(single(name, *sample) + b"\n")
        for row in refused:
            wrong += 1
            typer.echo(f"line {number}: {row.detail}", err=True)
    sys.stdout.buffer.flush()
    if wrong:
        raise typer.Exit(1)
