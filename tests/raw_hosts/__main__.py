"""`python -m tests.raw_hosts`: play the hosts of the second world and print how the pipeline judges them."""

from __future__ import annotations

import dataclasses
import json

import typer
from tests.evaluation import document
from tests.raw_hosts.cases import all_cases
from tests.raw_hosts.run import run_cases
from tests.raw_hosts.section import stored
from tests.raw_hosts.tables import line, summary
from tests.raw_hosts.verdict import Verdict

app = typer.Typer()


@app.command()
def main(
    only: list[str] = typer.Option([], "--only", metavar="NAME", help="only cases whose name contains this; may be given again"),
    as_json: bool = typer.Option(False, "--json", help="print everything as one JSON object"),
    processes: int = typer.Option(0, "--processes", "-p", min=0, help="cases at a time; 0: one for each core"),
    seed: int = typer.Option(0, "--seed", help="is added to the seed of each case: other phases, other victims"),
    write: bool = typer.Option(False, "--write", help="store the figures in docs/evaluation-raw-hosts.json and write docs/evaluation.md"),
    findings: bool = typer.Option(False, "--findings", help="print each finding with its evidence"),
) -> None:
    """Play hosts at the level of raw interfaces and compare the findings with what is right."""
    names = [case.name for case in all_cases() if not only or any(text in case.name for text in only)]
    if not names:
        typer.echo("raw_hosts: no case has such a name", err=True)
        raise typer.Exit(2)

    def report(verdict: Verdict) -> None:
        typer.echo(line(verdict, findings), err=as_json)

    if write and (only or seed):
        typer.echo("raw_hosts: --write needs all cases with their own seeds", err=True)
        raise typer.Exit(2)
    verdicts = run_cases(names, processes, seed, report)
    if write:
        figures = stored([dataclasses.asdict(one) for one in verdicts], summary(verdicts).as_dict())
        document.RAW_HOSTS.write_text(json.dumps(figures, indent=2) + "\n")
        document.main([])
    if as_json:
        cases = [dataclasses.asdict(one) for one in verdicts]
        typer.echo(json.dumps({"summary": summary(verdicts).as_dict(), "cases": cases}, indent=2))
    else:
        typer.echo(summary(verdicts).text())


if __name__ == "__main__":
    app()
