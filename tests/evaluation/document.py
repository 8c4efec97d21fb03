"""Writes docs/evaluation.md from docs/evaluation.json, which `make evaluate` writes (`python -m tests.evaluation.document [--check]`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from tests.evaluation import demo_hour_section as demo_hour
from tests.evaluation.draw import HELD_OUT
from tests.evaluation.scoring import match
from tests.evaluation.scoring.tables import case_line, confusion_table, headlines, marginal_line, markdown, number, symptom_table
from tests.raw_hosts import section as raw_hosts

from wallwatch_local.paths import REPOSITORY

RESULTS = REPOSITORY / "docs" / "evaluation.json"
RAW_HOSTS = REPOSITORY / "docs" / "evaluation-raw-hosts.json"
"""Figures of the second world, which `python -m tests.raw_hosts --write` writes."""
DEMO_HOUR = REPOSITORY / "docs" / "evaluation-demo-hour.json"
"""What was reported in an hour of the demo, which `python -m tests.evaluation.demo_hour --write` writes."""
RULES = Path(__file__).parent / "rules.md"
PAGE = REPOSITORY / "docs" / "evaluation.md"
KEPT_CASES = 25
"""Worst cases that the page shows per set."""

TITLES = {
    "held-out": "Random scenarios, held out",
    "catalogue": "The catalogue of scenarios",
    "quiet": "Long quiet periods",
    "development": "Random development scenarios",
}
MEANINGS = {
    "held-out": "Random scenarios (seeds above {held}) that nobody had looked at before these figures were computed; the definitions were "
    "written without them.\n"
    "They have one to three simultaneous causes, from far below to far above the wall, RNICs with and without the flaw, near misses, "
    "and operators who reboot hosts and disable ports.",
    "catalogue": "Each file of `tests/scenarios`, eight minutes long. The definitions were written with these scenarios in view.",
    "quiet": "Hours of six hosts with four RNICs each, of all models: jobs start and end, grow and pause, services churn, hosts reboot "
    "and ports are disabled.",
    "development": "Random scenarios (seeds 1 to {held}, including those that an earlier evaluation had held out); the definitions were "
    "written with these scenarios in view.",
}


def rules() -> str:
    """The first part of the page; its numbers are the constants of the code."""
    return (
        RULES.read_text()
        .format(
            host_symptoms=", ".join(sorted(match.HOST_SYMPTOMS)),
            gradual=", ".join(sorted(match.GRADUAL)),
            incident_min=match.INCIDENT_MS // 60_000,
            late_samples=match.LATE_SAMPLES,
            brief_samples=match.BRIEF_SAMPLES,
            last_samples=match.LAST_SAMPLES,
            gap_factor=match.GAP_FACTOR,
            **{
                name: getattr(match, f"{name.upper()}_MS") // 1000
                for name in ("early", "late", "join", "brief", "last", "linger", "gap", "watchdog")
            },
        )
        .rstrip()
    )


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


def section(name: str, figures: Mapping[str, Any]) -> str:
    """One set of recordings."""
    outcome = [[what, value, aim, {True: "yes", False: "**no**", None: "-"}[reached]] for what, value, aim, reached in headlines(figures)]
    columns = ("delay_samples_median", "delay_samples_p95", "delay_s_median", "delay_s_p95")
    delays = [[at, str(d["found"]), *(number(d.get(name), "g") for name in columns)] for at, d in figures["delay_by_interval"].items()]
    cases = figures["cases"][:KEPT_CASES]
    total = figures.get("case_count", len(figures["cases"]))
    parts = [
        f"## {TITLES[name]}",
        MEANINGS[name].format(held=HELD_OUT),
        f"{figures['recordings']} recordings, {figures['rnic_hours']:.1f} RNIC-hours, "
        f"{figures['healthy_rnic_hours']:.1f} of them "
        f"healthy; {figures['messages']:,} messages.",
        markdown(["metric", "value", "target", "reached"], outcome),
        markdown(*confusion_table(figures)),
        markdown(*symptom_table(figures)),
        f"- False incidents: {figures['false_on_healthy']} on healthy RNICs, {figures['false_beside']} next to a real symptom\n"
        f"- Excluded: {figures['not_asked']['brief']} too brief, {figures['not_asked']['cut']} too close to the end\n"
        f"- Repeats: {figures['repeats']}; cleared late: {figures['outstays']}\n"
        f"- {_capitalised(marginal_line(figures))}",
    ]
    if delays:
        parts.append(markdown(["sampling interval", "found", "delay median (samples)", "p95", "median (s)", "p95 (s)"], delays))
    if cases:
        parts.append(f"Worst cases ({len(cases)} of {total}):\n\n" + "\n".join(f"- {case_line(case)}" for case in cases))
    return "\n\n".join(parts)


def page(results: Mapping[str, Any]) -> str:
    """The whole page: the world in which the classifier does worse comes first."""
    order = [name for name in TITLES if name in results["sets"]]
    worlds = [(_headline_f1(results["sets"]), [section(name, results["sets"][name]) for name in order])]
    if RAW_HOSTS.exists():
        played = orjson.loads(RAW_HOSTS.read_bytes())
        worlds.append((raw_hosts.right_share(played), [raw_hosts.section(played)]))
    sections = [text for _, world in sorted(worlds, key=lambda one: one[0]) for text in world]
    if DEMO_HOUR.exists():
        sections.append(demo_hour.text(orjson.loads(DEMO_HOUR.read_bytes())))
    return "\n\n".join([rules(), *sections, f"## How these figures were computed\n\n{results['made']}"]) + "\n"


def _headline_f1(sets: Mapping[str, Any]) -> float:
    """Macro F1 of the scenarios that nobody had looked at; a set without all symptoms is no measure of the world."""
    figures = sets.get("held-out", {}).get("macro_f1")
    return 1.0 if figures is None else float(figures)


def write(found: Mapping[str, Any], made: str) -> None:
    """Store the figures and a limited number of cases, and write the page from them."""
    kept = {name: {**f, "case_count": len(f["cases"]), "cases": f["cases"][:KEPT_CASES]} for name, f in found.items()}
    results = {"sets": _rounded(kept), "made": made}
    RESULTS.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    PAGE.write_text(page(results))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def main(arguments: list[str], results: Path = RESULTS, written: Path = PAGE) -> int:
    """Write the page or, with --check, compare; 1 when it is out of date."""
    new = page(orjson.loads(results.read_bytes()))
    if "--check" not in arguments:
        written.write_text(new)
        return 0
    if written.read_text() != new:
        print("docs/evaluation.md is out of date: run 'make generate'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
