"""`python -m tests.lab_evaluation`: run the lab on planted devices, judge its reports, and print how good they are."""

from __future__ import annotations

from pathlib import Path

import typer
from tests.lab_evaluation.journal import append, read_journal
from tests.lab_evaluation.page import missed, summary, write
from tests.lab_evaluation.run import HELD_OUT_FROM, Row, Task, run_all

from dut_zoo.kinds import ALL, KINDS

app = typer.Typer()


def seeds_of(text: str) -> range:
    """`7` or `1-20`."""
    first, _, last = text.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError as reason:
        raise typer.BadParameter("write one seed, or the first and the last: 1-20") from reason


@app.command()
def main(
    seeds: str = typer.Option("1-20", "--seeds", metavar="FROM-TO", help="seeds of each kind"),
    devices: int = typer.Option(200, "--devices", min=0, help="how many random devices, from the first seed on"),
    kinds: list[str] = typer.Option([], "--kinds", metavar="KIND", help=f"only these kinds; may be given again: {', '.join(ALL)}"),
    write_page: bool = typer.Option(False, "--write", help="store the figures and write docs/lab-evaluation.md"),
    list_wrong: bool = typer.Option(False, "--list-wrong", help="print what is wrong with each report"),
    held_out: bool = typer.Option(False, "--held-out", help=f"allow seeds from {HELD_OUT_FROM} on, which are not for development"),
    journal: Path | None = typer.Option(None, "--journal", help="file that keeps each device's row: a run that was stopped goes on there"),
    processes: int = typer.Option(0, "--processes", "-p", min=0, help="devices at a time; 0: one per core"),
) -> None:
    """Judge the lab on devices whose truth was planted."""
    chosen = seeds_of(seeds)
    unknown = [kind for kind in kinds if kind not in ALL]
    if unknown or not chosen:
        raise typer.BadParameter(f"no such kind or no seeds; kinds are: {', '.join(ALL)}")
    random_seeds = range(chosen[0], chosen[0] + devices)
    wanted = kinds or list(ALL)
    if max(chosen[-1], random_seeds[-1] if random_seeds and "random" in wanted else 0) >= HELD_OUT_FROM and not held_out:
        raise typer.BadParameter(f"seeds from {HELD_OUT_FROM} on are held out; add --held-out if the lab is finished")
    if write_page and kinds:
        raise typer.BadParameter("--write needs all kinds")

    kept = read_journal(journal)

    def report(row: Row) -> None:
        if journal:
            append(journal, row)
        for text in row.wrong if list_wrong else ():
            typer.echo(f"{row.kind} {row.seed}: {text}")

    tasks = [Task(kind, seed) for kind in wanted for seed in (random_seeds if kind == "random" else chosen)]
    fresh = run_all([task for task in tasks if task not in kept], processes, report)
    kept |= {Task(row.kind, row.seed): row for row in fresh}
    rows = [kept[task] for task in tasks]
    typer.echo(summary(rows))
    if write_page:
        write(rows)
        return  # the page says which bars are not reached
    if missed(rows) and set(KINDS) <= set(wanted):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
