"""The second world's part of docs/evaluation.md, from the figures that `python -m tests.raw_hosts --write` stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tests.evaluation.scoring.tables import markdown, number

RIGHT_AIM = 0.97
"""Share of the hosts that should be judged rightly."""
MEANING = (
    "`tests/raw_hosts` plays hosts at the level of raw interfaces: files of sysfs, the control socket of Open vSwitch, a real OVSDB "
    "server, the kernel log, pstore, events of the CNI chain.\n"
    "It shares no code with the simulator. The collector's own inputs read them on the clock of the case.\n"
    "What is right follows from the mechanism (sources of the kernel, the drivers and Open vSwitch) and the paper, and is written into "
    "each case.\n"
    "A host is right when each of its symptoms is found in time on its RNIC, with an acceptable cause ranked first, for as long as it "
    "lasts, and nothing else is."
)


def stored(verdicts: Sequence[Mapping[str, Any]], figures: Mapping[str, int]) -> dict[str, Any]:
    """What is kept of a run: the figures, and how each host went."""
    kept = ("case", "healthy", "outcome", "expected", "found", "wrong_causes", "wrong_ends", "false", "delay_s")
    return {"summary": dict(figures), "hosts": [{name: _rounded(one[name]) for name in kept} for one in verdicts]}


def _rounded(value: Any) -> Any:
    return round(value, 1) if isinstance(value, float) else value


def right_share(results: Mapping[str, Any]) -> float:
    """Share of the hosts that are right."""
    return float(results["summary"]["right"] / results["summary"]["cases"])


def section(results: Mapping[str, Any]) -> str:
    """The whole part."""
    figures, hosts = results["summary"], results["hosts"]
    delays = [one["delay_s"] for one in hosts if one["delay_s"] is not None]
    rows = [
        ["hosts right", f"{right_share(results):.1%} ({figures['right']} of {figures['cases']})", f"at least {RIGHT_AIM:.0%}",
         _reached(right_share(results) >= RIGHT_AIM)],
        ["symptoms found", f"{figures['symptoms_found']} of {figures['symptoms']}", "-", "-"],
        ["found with a wrong cause first", str(figures["wrong_causes"]), "-", "-"],
        ["healthy hosts with a false finding", f"{figures['healthy_with_findings']} of {figures['healthy']}", "0",
         _reached(figures["healthy_with_findings"] == 0)],
        ["detection delay, median, s", number(median(delays) if delays else None, "g"), "-", "-"],
        ["longest detection delay, s", number(max(delays, default=None), "g"), "-", "-"],
    ]  # fmt: skip
    wrong = [_line(one) for one in hosts if one["outcome"] != "right"]
    parts = [
        "## Hosts played at the level of raw interfaces",
        MEANING,
        markdown(["metric", "value", "target", "reached"], rows),
        markdown(["symptom", "hosts", "found", "missed", "wrong cause"], _by_symptom(hosts)),
    ]
    if wrong:
        parts.append(f"Hosts that are judged wrongly ({len(wrong)}):\n\n" + "\n".join(wrong))
    return "\n\n".join(parts)


def _reached(reached: bool) -> str:
    return "yes" if reached else "**no**"


def _by_symptom(hosts: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    rows = []
    for symptom in sorted({name for one in hosts for name in one["expected"]}):
        its = [one for one in hosts if symptom in one["expected"]]
        found = sum(symptom in one["found"] for one in its)
        wrong = sum(any(cause.startswith(f"{symptom}:") for cause in one["wrong_causes"]) for one in its)
        rows.append([symptom, str(len(its)), str(found), str(len(its) - found), str(wrong)])
    healthy = [one for one in hosts if one["healthy"]]
    return [*rows, ["none (healthy)", str(len(healthy)), "·", "·", "·"]]


def _line(host: Mapping[str, Any]) -> str:
    details = [*host["wrong_causes"], *host["wrong_ends"], *host["false"]]
    expected = ", ".join(host["expected"]) or "nothing"
    return f"- {host['outcome']}: {host['case']} (expected {expected}{'; ' + '; '.join(details) if details else ''})"
