"""Figures as text, for a terminal and for the documentation."""

from __future__ import annotations

from typing import Any


def figures(found: dict[str, Any]) -> str:
    """Tables of accuracy by horizon, then declines and times to walls.

    >>> print(figures({"bandwidth": {}, "latency": {}, "declines": {}, "time_to_wall": {}}).splitlines()[0])
    Accuracy, 1 - mean absolute relative error (99th percentile of the error)
    """
    lines = ["Accuracy, 1 - mean absolute relative error (99th percentile of the error)"]
    for quantity in ("bandwidth", "latency"):
        for way, by_horizon in found[quantity].items():
            cells = [f"{ahead} min {one['accuracy']:.1%} ({one['p99_error']:.1%})" for ahead, one in by_horizon.items()]
            lines.append(f"  {quantity}, {way}: {'; '.join(cells)}")
    d, r = found["declines"], found["time_to_wall"]
    if d.get("there"):
        lines.append(
            f"Declines, 5 minutes ahead or more: {d['found']} of {d['there']} found (recall {_share(d['recall'])}; without the "
            f"{d['sudden']} sudden ones {_share(d['recall_without_sudden'])}); {d['right']} of {d['alarms']} forecasts of one came true "
            f"(precision {_share(d['precision'])})"
        )
    if r.get("of"):
        lines.append(
            f"Time to a wall: {r['inside']} of {r['of']} in the interval ({_share(r['coverage'])}; nominal 90%), {r['earlier']} earlier, "
            f"{r['later']} later"
        )
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "none there" if value is None else f"{value:.1%}"
