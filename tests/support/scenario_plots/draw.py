"""Draws a picture as SVG that is readable on a dark and on a light page."""

import io
import math
import re
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scenario_plots.recording import Interval, Recording
from scenario_plots.signals import Panel, Picture

# Colours that the picture has on a light page, and what they become on a dark one. Both pairs keep a contrast of 4.5 to 1 or more.
INK, INK_DARK = "#1f2328", "#e6edf3"
GRID, GRID_DARK = "#d0d7de", "#3d444d"
LINES = (("#0550ae", "#79c0ff"), ("#bc4c00", "#ffa657"))
TRUTH, TRUTH_DARK = "#f6c6c3", "#5c2b2b"
WALL, WALL_DARK = "#a40e26", "#ff9492"
DASHES = ("-", (0, (4, 2)))
WIDTH_IN, PANEL_IN, HEAD_IN = 8.0, 1.5, 0.9
SETTINGS = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "wallwatch",  # the same recording gives the same file
    "font.family": "sans-serif",
    "font.size": 9,
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "grid.color": GRID,
}


def draw(picture: Picture, recording: Recording, file: Path) -> None:
    """Write the picture of a recording."""
    truth = next((one for one in recording.truth if one.symptom == picture.symptom), None)
    if truth is None:
        raise ValueError(f"{picture.scenario}: {picture.symptom} did not come in {recording.run['length_s']} s; record longer")
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH_IN, HEAD_IN + PANEL_IN * len(picture.panels)), layout="constrained")
        all_axes = figure.subplots(len(picture.panels), 1, sharex=True, squeeze=False)[:, 0]
        figure.suptitle(picture.title, fontsize=11, x=0.01, horizontalalignment="left")
        for axes, panel in zip(all_axes, picture.panels, strict=True):
            _panel(axes, panel, recording, truth)
        _events(all_axes[0], recording.events(truth.host, picture.events))
        all_axes[-1].set_xlabel("seconds after the start; shaded: the symptom is there, by the simulator's own judgement")
        all_axes[-1].set_xlim(0, recording.run["recorded_s"])
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": picture.title})
    file.write_text(_for_both_themes(out.getvalue()))


def _panel(axes: Axes, panel: Panel, recording: Recording, truth: Interval) -> None:
    axes.axvspan(truth.from_s, truth.to_s or recording.run["recorded_s"], color=TRUTH, linewidth=0)
    highest = 0.0
    for line, (colour, _), dash in zip(panel.lines, LINES, DASHES, strict=False):
        times, values = recording.series(truth.host, truth.pci, line.field)
        if not times:
            raise ValueError(f"{truth.host} {truth.pci} has no {line.field}")
        axes.plot(times, values, color=colour, linestyle=dash, linewidth=1.5, marker=".", markersize=2.5, label=line.label)
        highest = max([highest, *(value for value in values if not math.isnan(value))])
    if panel.wall is not None:
        limit, name = panel.wall
        axes.axhline(limit, color=WALL, linewidth=1, linestyle=":")
        axes.annotate(
            f"{name} {limit:,.0f}", (0.995, limit), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=WALL, fontsize=8
        )
        highest = max(highest, limit)
    axes.set_ylim(0, 1.15 * highest or 1)
    axes.set_ylabel(panel.axis)
    axes.grid(True, linewidth=0.5)
    # Above the panel, where no line and no event can be under it.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), borderaxespad=0, frameon=False, fontsize=8, ncols=2)


def _events(axes: Axes, events: list[tuple[float, str]]) -> None:
    """Mark the first event of each kind above the uppermost panel."""
    first: dict[str, float] = {}
    for at, kind in events:
        first.setdefault(kind, at)
    for row, (kind, at) in enumerate(sorted(first.items(), key=lambda item: item[1])):
        axes.axvline(at, color=INK, linewidth=0.8)
        axes.annotate(
            f"event {kind}, {at:.0f} s",
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -10 - 11 * row),
            textcoords="offset points",
            fontsize=8,
        )


def _for_both_themes(svg: str) -> str:
    """Add rules that turn each colour into that of the dark theme where the reader prefers it."""
    pairs = [(INK, INK_DARK), (GRID, GRID_DARK), (TRUTH, TRUTH_DARK), (WALL, WALL_DARK), *LINES]
    rules = []
    for light, dark in pairs:
        rules.append(f'[style*="fill: {light}"]{{fill:{dark} !important}}')
        rules.append(f'[style*="stroke: {light}"]{{stroke:{dark} !important}}')
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    svg, found = re.subn(r"(<svg[^>]*>)", lambda match: match[1] + style, svg, count=1)
    if found != 1:
        raise ValueError("matplotlib wrote no svg element")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
