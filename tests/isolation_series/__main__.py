"""`python -m tests.isolation_series`: make series, have `wallwatch vnic detect` judge them, and print how well it does."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from tests.isolation_series.bars import missed_bars
from tests.isolation_series.kinds import KINDS, make
from tests.isolation_series.page import FIGURES, PAGE, by_kind, figures, page, summary
from tests.isolation_series.product import write as write_series
from tests.isolation_series.run import HELD_OUT_FROM, Result, Task, run_all

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
    only: list[str] = typer.Option([], "--only", metavar="KIND", help="only kinds whose name contains this; may be given again"),
    write: bool = typer.Option(False, "--write", help="store the figures and write docs/isolation-evaluation.md"),
    keep: Path | None = typer.Option(None, "--keep", metavar="DIR", help="keep the files of the series here"),
    only_wrong: bool = typer.Option(False, "--only-wrong", help="with --keep: only of series with a disagreement"),
    list_wrong: bool = typer.Option(False, "--list-wrong", help="print each interval that was judged wrongly"),
    make_only: bool = typer.Option(False, "--make-only", help="with --keep: write the files, run nothing"),
    held_out: bool = typer.Option(False, "--held-out", help=f"allow seeds from {HELD_OUT_FROM} on, which are not for development"),
    processes: int = typer.Option(0, "--processes", "-p", min=0, help="series at a time; 0: one per core"),
) -> None:
    """Judge the detector on series whose truth comes from the mechanism."""
    kinds = [kind for kind in KINDS if not only or any(text in kind for text in only)]
    chosen = seeds_of(seeds)
    if not kinds or not chosen:
        raise typer.BadParameter(f"no such kind; there are: {', '.join(KINDS)}")
    if chosen[-1] >= HELD_OUT_FROM and not held_out:
        raise typer.BadParameter(f"seeds from {HELD_OUT_FROM} on are held out; add --held-out if the detector is finished")
    if write and only:
        raise typer.BadParameter("--write needs all kinds")
    if make_only:
        if keep is None:
            raise typer.BadParameter("--make-only needs --keep")
        for kind in kinds:
            for seed in chosen:
                write_series(make(kind, seed), keep)
        return

    def report(result: Result) -> None:
        for wrong in result.product.wrong if list_wrong else []:
            typer.echo(f"{wrong.kind} {wrong.seed} t={wrong.t:.1f}: {wrong.what}; truth: {wrong.truth}; said: {wrong.said}")

    results = run_all([Task(kind, seed, keep, only_wrong) for kind in kinds for seed in chosen], processes, report)
    typer.echo(summary(results))
    if write:
        stored = figures(results)
        FIGURES.write_text(json.dumps(stored, indent=1) + "\n")
        PAGE.write_text(page(stored))
        return  # the page says which bars are not reached
    if any(missed_bars(kind, product) for kind, (product, _) in by_kind(results).items()):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
