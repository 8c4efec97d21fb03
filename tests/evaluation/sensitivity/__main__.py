"""`python -m tests.evaluation.sensitivity`: what the evaluation says when one threshold of the rules is moved by a fifth."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import typer
from tests.evaluation.sensitivity import document
from tests.evaluation.sensitivity.run import NotProved, Outcomes, figures, judge_host, judge_recording, moves
from tests.evaluation.sensitivity.thresholds import thresholds
from tests.raw_hosts.cases import all_cases
from tests.raw_hosts.kept import play_once

from wallwatch.recordings import NotARecording, find
from wallwatch_local.paths import REPOSITORY, local_dir

SETS = ("catalogue", "development")
"""Sets of simulated recordings that are judged; the held-out set stays unseen."""

app = typer.Typer()


@app.command()
def main(
    recordings: Path = typer.Option(local_dir() / "evaluation", help="folder of recordings, as `python -m tests.evaluation` records them"),
    kept: Path = typer.Option(local_dir() / "evaluation" / "raw-hosts", help="folder of what played hosts sent"),
    fresh: bool = typer.Option(False, "--fresh", help="play the hosts again, although their telemetry is kept"),
    only: list[str] = typer.Option([], "--only", metavar="TEXT", help="only thresholds whose name contains this; may be given again"),
    proofs: int = typer.Option(1, "--proofs", min=0, help="full runs per recording and host, to compare the shortcut with"),
    write: bool = typer.Option(True, "--write/--no-write", help="write docs/sensitivity.json and docs/sensitivity.md"),
) -> None:
    """Move each threshold of the rules by -20% and +20%, judge what both worlds recorded again, and write docs/sensitivity.md.

    Nothing is recorded again: `python -m tests.evaluation --record-only catalogue development` records the simulated fleet, and hosts of
    the second world are played once. About 20 minutes of one core.
    """
    chosen = [one for one in thresholds() if not only or any(text in one.name for text in only)]
    if not chosen or (write and only):
        typer.echo("sensitivity: no threshold has such a name" if not chosen else "sensitivity: --only needs --no-write", err=True)
        raise typer.Exit(2)
    try:
        folders = find([recordings / name for name in SETS])
    except NotARecording as error:
        typer.echo(f"sensitivity: {error}; record with `python -m tests.evaluation --record-only {' '.join(SETS)}`", err=True)
        raise typer.Exit(2) from error
    every, outcomes, began, made = moves(chosen), Outcomes(), time.monotonic(), _version()

    def report(what: str) -> None:
        typer.echo(f"{time.monotonic() - began:6.0f} s  {what}", err=True)

    played = play_once(all_cases(), kept, fresh, lambda case: report(f"play {case.name}"))
    try:
        for number, folder in enumerate(folders, 1):
            judge_recording(outcomes, folder, every, proofs)
            report(f"recording {number} of {len(folders)}: {folder.parent.name}/{folder.name}; {outcomes.judged_again} hosts judged again")
        for number, case in enumerate(all_cases(), 1):
            judge_host(outcomes, case, played[case.name], every, proofs)
            if number % 10 == 0:
                report(f"played host {number} of {len(played)}; {outcomes.judged_again} hosts judged again")
    except NotProved as error:
        typer.echo(f"sensitivity: {error}", err=True)
        raise typer.Exit(1) from error
    found = figures(outcomes, chosen)
    if write:
        document.write({"made": made, **found})
    typer.echo(document.summary(found))


def _version() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    app()
