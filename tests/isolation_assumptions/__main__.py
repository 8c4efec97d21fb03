"""`python -m tests.isolation_assumptions`: how well `wallwatch vnic detect` does when one assumption of the series is changed."""

from __future__ import annotations

import json

import typer
from tests.isolation_assumptions.judging import Score, judge_all
from tests.isolation_assumptions.page import FIGURES, PAGE, figures, page
from tests.isolation_assumptions.variations import KINDS, VARIATIONS, kinds_of

app = typer.Typer()


@app.command()
def main(
    seeds: int = typer.Option(5, "--seeds", help="series of each kind and variation"),
    first: int = typer.Option(1, "--first", help="the first seed"),
    only: list[str] = typer.Option([], "--only", metavar="TEXT", help="only variations whose name contains this"),
    kind: list[str] = typer.Option([], "--kind", metavar="KIND", help=f"only these kinds: {', '.join(KINDS)}"),
    list_wrong: bool = typer.Option(False, "--list-wrong", help="print each second that was judged wrongly"),
    write: bool = typer.Option(False, "--write", help="store the figures and write docs/isolation-assumptions.md"),
) -> None:
    """Judge the detector under each variation."""
    if write and (only or kind):
        raise typer.BadParameter("--write needs all variations and kinds")
    scores: dict[str, dict[str, Score]] = {}
    for name in (name for name in VARIATIONS if not only or any(text in name for text in only)):
        scores[name] = {}
        for one in (one for one in kinds_of(name) if not kind or one in kind):
            score = scores[name][one] = judge_all(name, one, range(first, first + seeds))
            typer.echo(f"{name:62}{one:10}{_text(score)}")
            for line in score.wrong if list_wrong else []:
                typer.echo(f"    {line}")
    if write:
        stored = figures(scores, first, seeds)
        FIGURES.write_text(json.dumps(stored, indent=1) + "\n")
        PAGE.write_text(page(stored))


def _text(score: Score) -> str:
    def part(value: float | None) -> str:
        return "     -" if value is None else f"{value:6.3f}"

    return (
        f"broken {score.broken:5d} P {part(score.precision)} R {part(score.recall)} aggressors {part(score.aggressors)} "
        f"mechanism {part(score.mechanism)} invented {score.invented:4d}"
    )


if __name__ == "__main__":
    app()
