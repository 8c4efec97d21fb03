"""`wallwatch generate ...`: documentation from the registry and the catalogue."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(help="Generate files from the registry and the catalogue.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `docs` a subcommand although it is the only one."""


@app.command()
def docs(
    folder: Path = typer.Option(Path("docs"), help="folder of the documentation", file_okay=False),
    check: bool = typer.Option(False, "--check", help="write nothing; fail when a file is out of date"),
) -> None:
    """Write behaviours.md, metrics.md, policies.md and symptoms.md, and the tables in remedies.md."""
    from wallwatch.cli.tables import pages, sections, with_sections

    stale = []
    written = {folder / name: text for name, text in pages().items()}
    for name, places in sections().items():
        if (page := folder / name).exists():  # only its tables are generated
            written[page] = with_sections(page.read_text(encoding="utf-8"), places)
    for file, text in written.items():
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(file))
        if not check:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            typer.echo(f"written: {file}")
    if check and stale:
        typer.echo(f"out of date: {', '.join(stale)}; run `wallwatch generate docs`", err=True)
        raise typer.Exit(1)
