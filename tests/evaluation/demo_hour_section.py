"""The part of docs/evaluation.md about an hour of the demo, from the figures that `python -m tests.evaluation.demo_hour --write` stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.evaluation.scoring.tables import markdown


def outside(found: Mapping[str, Any]) -> int:
    """How many things were reported where nothing is wrong."""
    return len(found["findings_outside"]) + len(found["violations_outside"])


def text(found: Mapping[str, Any]) -> str:
    """The part of docs/evaluation.md."""
    rows = [
        ["findings on other RNICs", str(len(found["findings_outside"])), "0"],
        ["policies violated on other RNICs", str(len(found["violations_outside"])), "0"],
    ]
    parts = [
        "## An hour of the demo",
        f"`python -m tests.evaluation.demo_hour` records an hour of the fleet of `make demo` on a virtual clock, with policies: "
        f"{found['rnics']} RNICs, {found['faulty']} of them with a scripted fault "
        f"({', '.join(found['symptoms'])} found there, {found['violations']:,} violations).\n"
        f"Forecasts of such an hour: [forecast-evaluation.md](forecast-evaluation.md#an-hour-of-the-demo).",
        markdown(["reported", "count", "target"], rows),
    ]
    wrong = [*found["findings_outside"], *(f"{place}: {n} violations" for place, n in found["violations_outside"].items())]
    if wrong:
        parts.append("\n".join(f"- {one}" for one in wrong))
    return "\n\n".join(parts)
