"""A monitor as a picture: Graphviz' language, or SVG with states in columns by their distance from the start."""

from __future__ import annotations

from typing import cast
from xml.sax.saxutils import escape

from wallwatch.domain.ltl.monitor import Monitor

_MAX_CUBES = 4
_RADIUS, _COLUMN, _ROW, _MARGIN = 22, 210, 120, 70
_MEANING = {"T": "satisfied", "F": "violated", "?": "inconclusive"}
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2933}.s{stroke-width:2;fill:#fff}"
    ".v-T{stroke:#2b8a3e}.v-F{stroke:#c92a2a}.v-Q{stroke:#495057}"
    ".h{stroke-dasharray:4 3}.e{fill:none;stroke:#868e96}.l{font-size:11px}.a{fill:#868e96}"
    "@media(prefers-color-scheme:dark){text{fill:#e9ecef}.s{fill:#25262b}.v-T{stroke:#69db7c}.v-F{stroke:#ff8787}.v-Q{stroke:#adb5bd}}"
)


def guards(monitor: Monitor, state: int) -> dict[int, str]:
    """Next state -> the letters that lead there, as a formula; `otherwise` for the widest where it would take many words."""
    cubes: dict[int, list[str]] = {}
    for asked, target in monitor.diagrams.paths(monitor.steps[state]):
        literals = [("" if holds else "!") + monitor.propositions[variable] for variable, holds in sorted(asked.items())]
        cubes.setdefault(cast(int, target), []).append(" & ".join(literals) or "true")
    widest = max(cubes, key=lambda target: len(cubes[target]))
    found = {}
    for target, texts in cubes.items():
        if len(texts) > _MAX_CUBES and target == widest:
            found[target] = "otherwise"
        else:
            more = f" | {len(texts) - _MAX_CUBES} more" if len(texts) > _MAX_CUBES else ""
            found[target] = " | ".join(sorted(texts, key=len)[:_MAX_CUBES]) + more
    return found


def dot(monitor: Monitor) -> str:
    """The machine in Graphviz' language."""
    lines = ["digraph monitor {", "  rankdir=LR;", '  start [shape=point]; start -> "0";']
    for state, verdict in enumerate(monitor.verdicts):
        style = ', style=dashed, tooltip="no verdict can follow"' if state in monitor.hopeless else ""
        lines.append(f'  "{state}" [shape={"doublecircle" if verdict != "?" else "circle"}, label="{state}\\n{verdict}"{style}];')
    for state in range(len(monitor.verdicts)):
        lines.extend(f'  "{state}" -> "{target}" [label="{guard}"];' for target, guard in guards(monitor, state).items())
    return "\n".join([*lines, "}", ""])


def svg(monitor: Monitor) -> str:
    """The automaton as a standalone SVG, readable on light and dark backgrounds."""
    place, width, height = _places(monitor)
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>Monitor of {escape(str(monitor.formula))}</title><style>{_STYLE}</style>",
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">'
        '<path class="a" d="M0 0L8 4L0 8z"/></marker></defs>',
    ]
    for state, verdict in enumerate(monitor.verdicts):
        for target, guard in guards(monitor, state).items() if verdict == "?" else ():  # a verdict is final: its loop is omitted
            shapes.append(_edge(place[state], place[target], state == target, guard))
    for state, verdict in enumerate(monitor.verdicts):
        x, y = place[state]
        kind = ("v-Q" if verdict == "?" else f"v-{verdict}") + (" h" if state in monitor.hopeless else "")
        shapes.append(f'<g><title>State {state}: {_MEANING[verdict]}</title><circle class="s {kind}" cx="{x}" cy="{y}" r="{_RADIUS}"/>')
        if verdict != "?":
            shapes.append(f'<circle class="s {kind}" cx="{x}" cy="{y}" r="{_RADIUS - 4}"/>')
        shapes.append(f'<text x="{x}" y="{y + 4}" text-anchor="middle">{state} {verdict}</text></g>')
    return "".join([*shapes, "</svg>\n"])


def _places(monitor: Monitor) -> tuple[list[tuple[int, int]], int, int]:
    column = {0: 0}
    order = [0]
    for state in order:  # grows while it is walked
        for target in monitor.successors(state):
            if target not in column:
                column[target] = column[state] + 1
                order.append(target)
    rows: dict[int, int] = {}
    place = [(0, 0)] * len(order)
    for state in order:
        row = rows[column[state]] = rows.get(column[state], -1) + 1
        # Odd columns are lowered by half a row, so that an edge over a column does not run through its states.
        place[state] = (_MARGIN + column[state] * _COLUMN, _MARGIN + row * _ROW + (column[state] % 2) * _ROW // 2)
    return place, max(x for x, _ in place) + _MARGIN + _COLUMN // 2, max(y for _, y in place) + _MARGIN


def _edge(start: tuple[int, int], end: tuple[int, int], loop: bool, guard: str) -> str:
    (x1, y1), (x2, y2) = start, end
    label = escape(guard)
    if loop:
        path = f"M{x1 - 10} {y1 - _RADIUS + 2}C{x1 - 30} {y1 - 62} {x1 + 30} {y1 - 62} {x1 + 10} {y1 - _RADIUS + 2}"
        return (
            f'<path class="e" marker-end="url(#a)" d="{path}"/><text class="l" x="{x1}" y="{y1 - 54}" text-anchor="middle">{label}</text>'
        )
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    # Bent to its left, so that an edge and the one back lie apart.
    bend = 0.12 * length
    mx, my = (x1 + x2) / 2 + uy * bend, (y1 + y2) / 2 - ux * bend
    sx, sy, ex, ey = x1 + ux * _RADIUS, y1 + uy * _RADIUS, x2 - ux * _RADIUS, y2 - uy * _RADIUS
    path = f"M{sx:.0f} {sy:.0f}Q{mx:.0f} {my:.0f} {ex:.0f} {ey:.0f}"
    tx, ty = (x1 + x2) / 2 + uy * bend * 0.6, (y1 + y2) / 2 - ux * bend * 0.6
    text = f'<text class="l" x="{tx:.0f}" y="{ty - 4:.0f}" text-anchor="middle">{label}</text>'
    return f'<path class="e" marker-end="url(#a)" d="{path}"/>{text}'
