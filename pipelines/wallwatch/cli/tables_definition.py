"""Parts of generated pages: Markdown tables, and how a symptom or a behaviour is detected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.catalogue.models import Definition


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = (str(cell).replace("|", r"\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _severity(d: Definition) -> str:
    """How severe the symptom is: a definition without bounds of its own always has the same severity."""
    if not d.critical_when:
        return f"always {d.severity}"
    return f"{d.severity}, critical when {' or '.join(f'`{b.signal}` {b.text}' for b in d.critical_when)}"


def definition(d: Definition) -> str:
    intro = (
        f"Rule `{d.rule}`; blast radius: {d.blast_radius}; raised after {d.raise_for_s} s, cleared after {d.clear_for_s} s; "
        f"severity: {_severity(d)}.\n"
        "While a required or gate signal is missing, the symptom neither raises nor clears.\n\n"
        f"{d.why.strip()}\n\n"
    )
    rows = (
        (
            f"`{c.signal}`",
            known_signals()[c.signal][1],
            c.role,
            f"{c.statistic} of {c.window_s} s",
            c.raise_.text,
            c.clear.text if c.clear else "",
            c.why,
        )
        for c in d.conditions
    )
    return intro + table(("signal", "unit", "role", "window", "raise", "clear", "reason"), rows)
