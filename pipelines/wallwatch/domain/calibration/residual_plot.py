"""Residual plots of a calibration as one SVG: relative residual over Q_l + Q_r, with the current profile's next to it."""

from __future__ import annotations

from html import escape

from wallwatch.domain.calibration.result import Calibration, QuantityFit

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 240, 70, 36, 44
FITTED, CURRENT = "#1f6feb", "#9a6700"


def svg(found: Calibration) -> str:
    """The plots below each other; filled circles are the fit's residuals, hollow squares the current profile's."""
    fits = [fit for fit in (found.bandwidth, found.latency, *found.other_fits) if fit is not None]
    parts = [_panel(fit, index * HEIGHT) for index, fit in enumerate(fits)]
    height = HEIGHT * len(fits)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="sans-serif"'
        f' font-size="12" role="img"><title>Residuals of the calibration of {escape(found.profile)}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _panel(fit: QuantityFit, top: int) -> str:
    values = [(p.q_l + p.q_r, -p.relative, 1 - p.current / p.measured) for p in fit.points]
    far = max(max(q for q, _, _ in values), 1.0)
    most = max(max(max(abs(f), abs(c)) for _, f, c in values), 0.03) * 1.1
    middle = top + TOP + (HEIGHT - TOP - BOTTOM) / 2
    half = (HEIGHT - TOP - BOTTOM) / 2

    def x(q: float) -> float:
        return LEFT + q / far * (WIDTH - LEFT - 30)

    def y(residual: float) -> float:
        return middle - residual / most * half

    ticks = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y(t):.1f}" y2="{y(t):.1f}" stroke="#d0d7de"/><text x="{LEFT - 8}" y="{y(t) + 4:.1f}"'
        f' text-anchor="end">{t:+.0%}</text>'
        for t in (-most / 1.1, 0.0, most / 1.1)
    )
    marks = "".join(
        f'<rect x="{x(q) - 4:.1f}" y="{y(c) - 4:.1f}" width="8" height="8" fill="none" stroke="{CURRENT}"/>'
        f'<circle cx="{x(q):.1f}" cy="{y(f):.1f}" r="4" fill="{FITTED}"/>'
        for q, f, c in values
    )
    title = (
        f"{fit.quantity} of {fit.verb} at {fit.message_bytes} bytes: (measured - model) / measured; circles fitted, squares current profile"
    )
    axis = "".join(f'<text x="{x(q):.1f}" y="{top + HEIGHT - BOTTOM + 16}" text-anchor="middle">{q:g}</text>' for q in (0.0, far / 2, far))
    return (
        f'<text x="{LEFT}" y="{top + 20}">{escape(title)}</text>{ticks}{marks}{axis}'
        f'<text x="{(LEFT + WIDTH) / 2}" y="{top + HEIGHT - 8}" text-anchor="middle">Q_l + Q_r [lookups]</text>'
    )
