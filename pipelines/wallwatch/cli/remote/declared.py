"""`wallwatch export` and `wallwatch apply`: webhooks, policies, silences and SLOs as a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallwatch.api_client.errors import ClientError, WrongUsage
from wallwatch.cli.remote.completion import words
from wallwatch.cli.remote.output import Format, rendered
from wallwatch.cli.remote.running import JsonOption, ProfileOption, YesOption, confirmed, connected, failing

if TYPE_CHECKING:
    from wallwatch.api_client.declared.steps import Step

SIGNS = {"create": "+", "update": "~", "delete": "-"}
CHANGES = 1
"""Exit code of `--dry-run` when something would change."""
SECTIONS = ("slo_classes", "slo_rules", "policies", "webhooks", "silences")


@failing
def export(
    section: Annotated[list[str] | None, typer.Option(help="Only this section; may be repeated.", autocompletion=words(*SECTIONS))] = None,
    with_urls: Annotated[
        bool, typer.Option("--with-urls", help="Write the addresses of webhooks, which may be secret, instead of names of variables.")
    ] = False,
    as_json: JsonOption = False,
    profile: ProfileOption = None,
) -> None:
    """Print webhooks, policies, silences and SLOs as a file that `wallwatch apply` takes; without secrets."""
    from wallwatch.api_client.declared import documents

    unknown = sorted(set(section or ()) - set(documents.SECTIONS))
    if unknown:
        raise WrongUsage(f"There is no section {', '.join(unknown)}; there are {', '.join(documents.SECTIONS)}")
    with connected(profile) as client:
        wanted = list(section or documents.SECTIONS)
        if "webhooks" in wanted and with_urls and client.get("/session")["user"]["role"] != "admin":
            raise WrongUsage("Only an admin sees the addresses of webhooks; leave out --with-urls")
        document = documents.exported(client, wanted, with_urls)
    typer.echo(rendered(Format.json if as_json else Format.yaml, document, ()))


@failing
def apply(
    file: Annotated[str, typer.Option("--file", "-f", help="The file, as `wallwatch export` prints it; - is standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would change; exit code 1 if anything would.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete what the file's sections do not have (policies that once ran are disabled).")
    ] = False,
    secrets_file: Annotated[
        Path | None, typer.Option(help="Append the signing secrets of new webhooks to this file (mode 0600); they are shown only once.")
    ] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
    profile: ProfileOption = None,
) -> None:
    """Make a server's webhooks, policies, silences and SLOs equal to a file; a second time changes nothing."""
    from wallwatch.api_client.declared import documents

    wanted = documents.read(_text(file), os.environ)
    with connected(profile) as client:
        steps = documents.steps(client, wanted, prune)
        typer.echo(json.dumps([step.as_json() for step in steps], ensure_ascii=False, indent=2) if as_json else described(steps))
        if dry_run:
            raise typer.Exit(CHANGES if steps else 0)
        _run(steps, secrets_file, yes)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{file} cannot be read: {error}") from error


def described(steps: list[Step]) -> str:
    """The changes in words, one line each, with the fields that differ below."""
    if not steps:
        return "Nothing differs."
    lines = []
    for step in steps:
        lines.append(f"{SIGNS[step.action]} {step.kind} {step.name}")
        for each in step.differences:
            lines.append(f"    {each.field}: {_value(each.before)} -> {_value(each.after)}")
    return "\n".join(lines)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _run(steps: list[Step], secrets_file: Path | None, yes: bool) -> None:
    new = [step for step in steps if step.brings_secret]
    if new and secrets_file is None and not sys.stdout.isatty():
        raise WrongUsage(f"{len(new)} new webhooks bring signing secrets, which are shown only once: give --secrets-file")
    deletions = [step for step in steps if step.action == "delete"]
    if deletions:
        confirmed(f"Delete {len(deletions)} of them?", yes)
    for count, step in enumerate(steps):
        try:
            secret = step.run()
        except ClientError as error:
            done = f"{count} of {len(steps)} changes are made; run it again once this is solved."
            raise type(error)(f"{step.kind} {step.name}: {error}\n{done}") from error
        if secret is not None:
            _keep(step.name, secret, secrets_file)
    if steps:
        typer.echo(f"{len(steps)} changes made.", err=True)


def _keep(name: str, secret: str, file: Path | None) -> None:
    if file is None:
        typer.echo(f"Signing secret of {name} (shown only now): {secret}")
        return
    try:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as stream:
            stream.write(f"{name}\t{secret}\n")
    except OSError as error:
        typer.echo(f"{file} cannot be written ({error}). Signing secret of {name} (shown only now): {secret}", err=True)
