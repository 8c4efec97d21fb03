"""Commands of the local stack."""

from pathlib import Path
from typing import Annotated

import typer

from wallwatch_local import audit, buildah, demo, image_builds, image_digests, kafka, kept_servers, parts, postgres, reset, run_tests, sbom
from wallwatch_local.errors import LocalStackError
from wallwatch_local.kafka_security import Security

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)

DataDir = Annotated[Path, typer.Option("--data-dir", help="Folder of the server's data; created if missing.")]
Port = Annotated[int, typer.Option("--port", help="TCP port on 127.0.0.1.")]


@app.command("postgres")
def run_postgres(data_dir: DataDir, port: Port) -> None:
    """Run PostgreSQL with TimescaleDB in the foreground."""
    postgres.run_in_foreground(data_dir, port)


@app.command("kafka")
def run_kafka(
    data_dir: DataDir,
    port: Port,
    security: Annotated[Path | None, typer.Option(help="Folder of certificates and passwords; without it the broker asks nobody.")] = None,
) -> None:
    """Run a Kafka broker in the foreground."""
    kafka.run_in_foreground(data_dir, port, Security(security) if security else None)


@app.command("demo")
def run_demo(scenario: Annotated[str, typer.Option(help="Name of a file in tests/scenarios; ? lists them.")] = "demo") -> None:
    """Run the whole product with a simulated fleet until Ctrl-C."""
    raise typer.Exit(demo.run(scenario))


@app.command("dev")
def run_dev(scenario: Annotated[str, typer.Option(help="Name of a file in tests/scenarios; ? lists them.")] = "demo") -> None:
    """Run the demo with backend and UI from their sources: both reload when you save."""
    raise typer.Exit(demo.run(scenario, hot_reload=True))


@app.command("demo-reset")
def reset_demo() -> None:
    """Delete the demo's state."""
    try:
        typer.echo("deleted the demo's state" if reset.reset() else "no state to delete")
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command("test")
def run_all_tests(
    names: Annotated[list[str] | None, typer.Argument(metavar="[PART]...", help="Parts to run; default: all.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Only tests that require no server and no build.")] = False,
) -> None:
    """Run the tests of all parts or of the named ones."""
    try:
        lanes = parts.fast() if fast else parts.lanes(names or [])
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(run_tests.run(lanes))


@app.command("audit")
def run_audit() -> None:
    """Look for known weaknesses in the dependencies; exit code 1: some were found, 3: not everything could be checked."""
    found = audit.run()
    for one in found:
        typer.echo(one.text())
    raise typer.Exit(audit.exit_code(found))


@app.command("images")
def build_images() -> None:
    """Build both images without a container engine, into a store below .local/images."""
    try:
        for one in image_builds.build(buildah.own()):
            typer.echo(one.text())
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command("image-digests")
def check_image_digests() -> None:
    """Compare the digests of pinned images with their registry; exit code 1: one is wrong, 3: not everything could be checked."""
    verdicts = image_digests.check(image_digests.pinned(), image_digests.registry())
    for one in verdicts:
        typer.echo(one.text())
    raise typer.Exit(image_digests.exit_code(verdicts))


@app.command("sbom")
def write_sbom(
    out: Annotated[Path, typer.Option(help="Folder for the files.", file_okay=False)] = Path("dist/sbom"),
) -> None:
    """Write a software bill of materials for each image, in CycloneDX."""
    try:
        for file, count in sbom.write(out).items():
            typer.echo(f"{file}: {count} components")
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


test_servers = typer.Typer(no_args_is_help=True, help="Servers for tests that stay up between test runs.")
app.add_typer(test_servers, name="test-servers")


@test_servers.command("start")
def start_test_servers() -> None:
    """Start PostgreSQL and Kafka in the background unless they are running."""
    try:
        servers = kept_servers.start()
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    typer.echo(f"the test servers are up (process {servers.pid}): PostgreSQL and {len(servers.brokers)} Kafka brokers")


@test_servers.command("stop")
def stop_test_servers() -> None:
    """Stop the servers and delete their data."""
    try:
        typer.echo("stopped the test servers" if kept_servers.stop() else "no test servers are running")
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@test_servers.command("run")
def run_test_servers() -> None:
    """Run the servers in the foreground until Ctrl-C."""
    try:
        kept_servers.run_in_foreground()
    except LocalStackError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
