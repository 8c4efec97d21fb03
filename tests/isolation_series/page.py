"""The page `docs/isolation-evaluation.md`, from the figures in `docs/isolation-evaluation.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.isolation_series.bars import BARS, missed_bars
from tests.isolation_series.judge import COUNTS, Score, total
from tests.isolation_series.kinds import KINDS
from tests.isolation_series.run import HELD_OUT_FROM, Result

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "isolation-evaluation.md"
FIGURES = REPOSITORY / "docs" / "isolation-evaluation.json"
WORDS = Path(__file__).parent / "words.md"


def by_kind(results: list[Result]) -> dict[str, tuple[Score, Score]]:
    """Scores of the command and of the naive rule, by kind, in the order of `KINDS`."""
    found = {}
    for kind in KINDS:
        mine = [one for one in results if one.task.kind == kind]
        if mine:
            found[kind] = (total(one.product for one in mine), total(one.naive for one in mine))
    return found


def figures(results: list[Result]) -> dict[str, Any]:
    """What is stored: counts by kind, of the command and of the naive rule."""
    seeds = sorted({one.task.seed for one in results})

    def counts(score: Score) -> dict[str, int]:
        return {name: getattr(score, name) for name in COUNTS}

    kinds = {kind: {"product": counts(product), "naive": counts(naive)} for kind, (product, naive) in by_kind(results).items()}
    return {"seeds": [seeds[0], seeds[-1]], "kinds": kinds}


def page(stored: dict[str, Any]) -> str:
    """The whole page."""
    scores = {kind: (Score(**counts["product"]), Score(**counts["naive"])) for kind, counts in stored["kinds"].items()}
    intro, definitions = WORDS.read_text().split("<!-- tables -->\n")
    first, last = stored["seeds"]
    lines = [
        "<!-- Written by `python -m tests.isolation_series --write`; words are in tests/isolation_series/words.md. -->",
        intro.rstrip(),
        "",
        f"Judged: seeds {first} to {last} of each kind. {origin(first, last)}",
        "",
        *kinds_table(scores),
        "",
        "## The bars",
        "",
        *bars_table(scores),
        "",
        definitions.rstrip(),
    ]
    return "\n".join(lines) + "\n"


def origin(first: int, last: int) -> str:
    """What these seeds were used for."""
    if last < HELD_OUT_FROM:
        return f"They served development: disagreements on them were looked into on both sides. Seeds from {HELD_OUT_FROM} on are held out."
    if first >= HELD_OUT_FROM:
        return "They are held out: nobody looked at them while the detector was written."
    return "Some of them served development."


def kinds_table(scores: dict[str, tuple[Score, Score]]) -> list[str]:
    """Figures by kind."""
    lines = [
        "| series | n | judged intervals | broken | precision | recall | F1 "
        "| aggressors exact | in whole intervals | mechanism | victims exact "
        "| reported though not broken | naive: precision | naive: recall | naive: aggressor |",
        "|---|" + "---:|" * 14,
    ]
    for kind, (one, plain) in scores.items():
        shares = [one.precision, one.recall, one.f1, one.aggressors, one.whole_aggressors, one.mechanism, one.victims]
        cells = [kind, one.series, one.judged, one.right + one.missed, *map(share, shares), one.invented]
        cells += [share(plain.precision), share(plain.recall), share(plain.aggressors)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def bars_table(scores: dict[str, tuple[Score, Score]]) -> list[str]:
    """Each bar, and whether it is reached."""
    lines = ["| series | bar | has | reached |", "|---|---|---:|---|"]
    for kind, (score, _) in scores.items():
        for bar in BARS[kind]:
            value = bar.of(score)
            shown = "none" if value is None else share(value) if bar.least is not None else f"{value:g}"
            lines.append(
                f"| {kind} | {bar.words()}{' [ours]' if bar.ours else ''} | {shown} | {'yes' if bar.reached(score) else '**no**'} |"
            )
        if score.refused:
            lines.append(f"| {kind} | every file is read | {score.refused} refused | **no** |")
    return lines


def share(value: float | None) -> str:
    """A share with four digits; a dash where there is nothing to divide by."""
    return "–" if value is None else f"{value:.4f}"


def summary(results: list[Result]) -> str:
    """The same figures for a terminal."""
    lines = []
    for kind, (one, plain) in by_kind(results).items():
        shares = {
            "P": one.precision,
            "R": one.recall,
            "F1": one.f1,
            "aggressors": one.aggressors,
            "whole": one.whole_aggressors,
            "mechanism": one.mechanism,
        }
        shares |= {"victims": one.victims, "gaps": one.unknown_gaps}
        counts = {
            "invented": one.invented,
            "missed": one.missed,
            "unknown": one.unknown_broken,
            "absurd": one.absurd,
            "refused": one.refused,
        }
        words = [f"{name} {share(value)}" for name, value in shares.items()] + [f"{name} {value}" for name, value in counts.items()]
        naive_words = f"naive P {share(plain.precision)} R {share(plain.recall)}"
        lines.append(f"{kind:20} n={one.series:<3} {' '.join(words)} | {naive_words}")
        lines += [f"    not reached: {bar}" for bar in missed_bars(kind, one)]
    return "\n".join(lines)
