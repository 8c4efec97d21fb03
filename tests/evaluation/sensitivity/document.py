"""Writes docs/sensitivity.md from docs/sensitivity.json (`python -m tests.evaluation.sensitivity.document [--check]`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from tests.evaluation.scoring.tables import markdown, number
from tests.evaluation.sensitivity.thresholds import Threshold, thresholds

from wallwatch_local.paths import REPOSITORY

RESULTS = REPOSITORY / "docs" / "sensitivity.json"
PAGE = REPOSITORY / "docs" / "sensitivity.md"

EDGE = 0.02
"""A threshold stands on an edge where a fifth costs more than this: of an F1, of the causes ranked first, of the played hosts."""

Figures = Mapping[str, Any]

INTRODUCTION = """\
# How much does each threshold matter?

`make sensitivity` writes this page; do not edit it. It moves each number of the rules by -20% and +20%, one at a time, and judges both
worlds of [the evaluation](evaluation.md) again: {recordings} recordings of the simulated fleet ({sets}) and {hosts} hosts played at the
level of raw interfaces. Nothing is recorded again. The held-out scenarios are not used, so that they stay unseen.

- A count is moved to the next whole number, and a share that cannot pass 1 by a fifth of its distance to 1 where it would.
  Conditions that ask whether an event happened at all (at least 1, or none) have nothing to move.
- Conditions that are evidence only decide nothing, and neither do bounds of the severity: they are not moved.
- Rule U/2 compares hosts once per minute in another job, which recordings do not run: [the list of symptoms](symptoms.md) has its reasons.
- Windows are not moved: they consist of buckets of 5 s, and most are one to three of them.
- A recording is judged again only where a host's run compared a value between the two bounds; all other runs are the same to the last
  finding. {proved:,} full runs, drawn at random, found the same as the shortcut. {judged_again:,} runs of hosts were judged again.
- Constants on the way to a signal leave no comparison to look at: they are judged on every host that shows what they are about (deletions,
  pauses, a predicted loss), over the catalogue and all played hosts.

{unmoved}

The delay is the 95th percentile in samples over the simulated fleet, and the median over the played hosts.

*On an edge* is a threshold with which a fifth lowers the macro F1, the F1 of a symptom that it concerns, the share of right causes ranked
first or the share of played hosts that are right by more than {edge:g}, or adds a false incident on a healthy RNIC or host.

That nothing changes says that healthy and sick hosts of the recordings are far from a bound, not that the bound is right on hosts that are
unlike them: no run has any value within a fifth of {untouched} of the {count} numbers.
"""


def page(results: Figures) -> str:
    """The whole page; reasons are those of the catalogue and the code as they are."""
    every = results["thresholds"]
    now = {one.name: one for one in thresholds()}
    reasons = {name: one.why for name, one in now.items()}
    edges = [one for one in every if on_edge(results, one)]
    still = [one for one in every if not any(_changes(results, one, moved) for moved in one["moved"])]
    others = [one for one in every if one not in edges and one not in still]
    parts = [
        INTRODUCTION.format(
            recordings=sum(results["recordings"].values()), hosts=results["hosts"], proved=results["proved"], edge=EDGE,
            sets=", ".join(f"{count} of the set {name}" for name, count in results["recordings"].items()),
            judged_again=results["judged_again"], unmoved=_unmoved(results), count=len(every),
            untouched=sum(not _judged_again(one) for one in every),
        ),
        f"## On an edge ({len(edges)} of {len(every)})\n",
        _table(results, edges, reasons) if edges else "None.",
        *_played(edges),
        f"\n## Moved figures, not on an edge ({len(others)})\n",
        _table(results, others, reasons) if others else "None.",
        *_played(others),
        f"\n## No figure moves by a fifth ({len(still)})\n",
        markdown(["threshold", "value", "judged again", "reason"], _still(still, reasons)) if still else "None.",
        f"\n## How these figures were computed\n\n`make sensitivity` at version {results['made']}.",
        *_changed_since(every, now),
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _changed_since(every: Sequence[Figures], now: Mapping[str, Threshold]) -> Iterator[str]:
    """A sentence about numbers that are no longer those of the run."""
    then = {one["name"]: one["value"] for one in every}
    changed = sorted(name for name in then.keys() | now.keys() if name not in then or name not in now or then[name] != now[name].value)
    if changed:
        yield f"\nChanged since then, so that their figures are out of date: {'; '.join(changed)}."


def _unmoved(results: Figures) -> str:
    head = ["rules as they are", "macro F1", "right cause first", "false incidents on healthy RNICs", "delay", "played hosts right",
            "healthy ones with a finding"]  # fmt: skip
    rows = []
    for name, title in (("all", "both sets"), ("sampled", "catalogue alone")):
        one = results["unmoved"][name]
        scores = [number(one["macro_f1"], ".3f"), number(one["cause_first"], ".1%"), str(one["false_on_healthy"]), _delay(one)]
        rows.append([title, *scores, f"{one['hosts_right']} of {results['hosts']}", str(one["healthy_with_findings"])])
    return markdown(head, rows)


def on_edge(results: Figures, threshold: Figures) -> bool:
    """Whether a fifth more or less costs too much."""
    return any(_is_edge(before(results, threshold), results["hosts"], threshold, moved) for moved in threshold["moved"])


def _is_edge(unmoved: Figures, hosts: int, threshold: Figures, moved: Figures) -> bool:
    falls = [
        _less(unmoved["macro_f1"], moved["macro_f1"]),
        _less(unmoved["cause_first"], moved["cause_first"]),
        (unmoved["hosts_right"] - moved["hosts_right"]) / hosts,
        *(_less(unmoved["f1"].get(name), moved["f1"].get(name)) for name in threshold["concerns"]),
    ]
    more = any(moved[name] > unmoved[name] for name in ("false_on_healthy", "healthy_with_findings"))
    return more or any(round(fall, 6) > EDGE for fall in falls)


def _less(before: float | None, after: float | None) -> float:
    return 0.0 if before is None else before - (after or 0.0)


def before(results: Figures, threshold: Figures) -> Figures:
    """The figures of an unmoved run over what this threshold is judged on."""
    found: Figures = results["unmoved"]["sampled" if threshold["sampled"] else "all"]
    return found


def _changes(results: Figures, threshold: Figures, moved: Figures) -> bool:
    return bool(moved["changed"]) or any(moved[name] != value for name, value in before(results, threshold).items())


def _table(results: Figures, rows: Sequence[Figures], reasons: Mapping[str, str]) -> str:
    head = [
        "threshold",
        "value",
        "moved to",
        "macro F1",
        "F1 of the symptom",
        "right cause first",
        "false on healthy",
        "delay",
        "hosts right",
        "reason",
    ]
    return markdown(head, [row for one in rows for row in _rows(results, one, reasons)])


def _rows(results: Figures, threshold: Figures, reasons: Mapping[str, str]) -> Iterator[list[str]]:
    unmoved = before(results, threshold)
    for number_of_move, moved in enumerate(threshold["moved"]):
        edge = _is_edge(unmoved, results["hosts"], threshold, moved)
        changed = [
            f"{name} {_step(unmoved['f1'].get(name), moved['f1'].get(name))}"
            for name in sorted({*unmoved["f1"], *moved["f1"]})
            if unmoved["f1"].get(name) != moved["f1"].get(name)
        ]
        first = number_of_move == 0
        value = f"**{moved['value']:g}**" if edge else f"{moved['value']:g}"
        false = moved["false_on_healthy"] - unmoved["false_on_healthy"]
        right = moved["hosts_right"] - unmoved["hosts_right"]
        yield [
            threshold["name"] if first else "", threshold["text"] if first else "", value,
            _step(unmoved["macro_f1"], moved["macro_f1"]), ", ".join(changed) or "same",
            _step(unmoved["cause_first"], moved["cause_first"]), f"{false:+d}" if false else "same",
            "same" if _delay(moved) == _delay(unmoved) else _delay(moved), f"{right:+d}" if right else "same",
            _cell(reasons.get(threshold["name"], "")) if first else "",
        ]  # fmt: skip


def _step(old: float | None, new: float | None) -> str:
    return "same" if old == new else f"{number(new, '.3f')} ({(new or 0) - (old or 0):+.3f})"


def _still(rows: Sequence[Figures], reasons: Mapping[str, str]) -> list[list[str]]:
    """Thresholds that change nothing; a reason that is the same as in the row before is not repeated."""
    found, last = [], ""
    for one in rows:
        touched, reason = _judged_again(one), _cell(reasons.get(one["name"], ""))
        again = str(touched) if touched else "no value within a fifth"
        found.append([one["name"], one["text"], again, "as above" if reason == last else reason])
        last = reason
    return found


def _judged_again(threshold: Figures) -> int:
    """Recordings and played hosts that were judged again, in both directions together."""
    return sum(int(moved["recordings"] + moved["played"]) for moved in threshold["moved"])


def _delay(figures: Figures) -> str:
    return f"{number(figures['delay_samples'], 'g')} samples, {number(figures['hosts_delay_s'], 'g')} s"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _played(rows: Sequence[Figures]) -> Iterator[str]:
    lines = [f"- {line}" for one in rows for line in _lines(one)]
    if lines:
        yield "\nPlayed hosts that are judged otherwise:\n\n" + "\n".join(lines)


def _lines(threshold: Figures) -> Iterator[str]:
    """Played hosts that are judged otherwise."""
    for moved in threshold["moved"]:
        if moved["changed"]:
            yield f"{threshold['name']}, moved to {moved['value']:g}: " + "; ".join(
                f"{name}: {how}" for name, how in moved["changed"].items()
            )


def summary(results: Figures) -> str:
    """A few lines for a terminal."""
    edges = [one for one in results["thresholds"] if on_edge(results, one)]
    lines = [f"{len(results['thresholds'])} thresholds, {len(edges)} on an edge; {results['proved']} full runs agree with the shortcut"]
    for one in edges:
        for moved in one["moved"]:
            if _is_edge(before(results, one), results["hosts"], one, moved):
                lines.append(
                    f"{one['name']} {one['text']}, moved to {moved['value']:g}: macro F1 {number(moved['macro_f1'], '.3f')}, "
                    f"{moved['false_on_healthy']} false, {moved['hosts_right']} hosts right"
                )
    return "\n".join(lines)


def write(results: Figures, stored: Path = RESULTS, written: Path = PAGE) -> None:
    """Store the figures, and write the page from them."""
    stored.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    written.write_text(page(results))


def main(arguments: Sequence[str], stored: Path = RESULTS, written: Path = PAGE) -> int:
    """Write the page or, with --check, compare; 1 when it is out of date."""
    new = page(orjson.loads(stored.read_bytes()))
    if "--check" not in arguments:
        written.write_text(new)
        return 0
    if written.read_text() != new:
        print("docs/sensitivity.md is out of date: run 'make generate'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
