"""Calibration: fits the parameters of Table 3 (paper, section 4.2) to measurements, and judges whether the fit may replace the profile.

Each verb is fitted separately: send and write of one pair of RNICs differ by ten per cent under the same masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wallwatch.domain.calibration import least_squares, surfaces
from wallwatch.domain.calibration.points import Measured, Point, Statistic, fitted_size, points_of
from wallwatch.domain.calibration.result import Calibration, Candidate, FileRead, FittedPoint, Parameter, QuantityFit, SizeFit
from wallwatch.domain.calibration.verdict import judge
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.perftest.runs import Quantity, Verb

VERBS: tuple[Verb, ...] = ("send", "write", "read")
QUANTITIES: tuple[Quantity, ...] = ("bandwidth", "latency")
MOST_LISTED = 20
"""Problems of files in one message."""


class NothingToFit(ValueError):
    """No usable measurement; the message lists the measurements found, and the first few `problems`."""

    def __init__(self, what: str, problems: Sequence[str] = ()) -> None:
        self.what, self.problems = what, list(problems)
        more = [f"and {len(problems) - MOST_LISTED} more"] if len(problems) > MOST_LISTED else []
        super().__init__(": ".join(part for part in (what, "; ".join([*problems[:MOST_LISTED], *more])) if part))


class Wish(NamedTuple):
    """The caller's choices; None selects automatically."""

    verb: Verb | None = None
    statistic: Statistic = "average"
    bandwidth_bytes: int | None = None
    latency_bytes: int | None = None


def calibrate(
    measured: Sequence[Measured],
    current: Performance,
    profile: str,
    *,
    chosen: str = "given",
    others: Sequence[Performance] = (),
    wish: Wish = Wish(),
    problems: Sequence[str] = (),
    files: Sequence[FileRead] = (),
    assumptions: Sequence[str] = (),
) -> Calibration:
    """Fit, compare with the current profile, judge.

    Parameters
    ----------
    measured : sequence of Measured
        Runs under known lookups.
    current : Performance
        The profile that a fit would replace, and the prior for parameters that the points do not identify.
    others : sequence of Performance
        More starts of the search: the profiles of other models.

    Raises
    ------
    NothingToFit
        When no send or write bandwidth and no latency was measured.
    """
    fits = _fits(measured, wish, current, others)
    if not fits:
        raise NothingToFit(_what_was_there(measured, wish), problems)
    verb = wish.verb or _most_measured(fits)
    bandwidth = next((f for f in fits if f.verb == verb and f.quantity == "bandwidth"), None)
    latency = next((f for f in fits if f.verb == verb and f.quantity == "latency"), None)
    judged = [fit for fit in (bandwidth, latency) if fit is not None]
    if not judged:
        raise NothingToFit(f"no measurements of {verb}; the files contain {', '.join(sorted({f.verb for f in fits}))}", problems)
    accepted = all(fit.accepted for fit in judged)
    return Calibration(
        profile=profile,
        profile_chosen="given" if chosen == "given" else "nearest",
        verb=verb,
        accepted=accepted,
        reasons=[f"{fit.quantity}: {fit.reason}" for fit in judged],
        bandwidth=bandwidth,
        latency=latency,
        other_fits=[f for f in fits if f is not bandwidth and f is not latency],
        candidate=_candidate(current, bandwidth, latency) if accepted else None,
        assumptions=list(assumptions),
        notes=_notes(bandwidth, latency, measured),
        problems=list(problems),
        files=list(files),
    )


def _fits(measured: Sequence[Measured], wish: Wish, current: Performance, others: Sequence[Performance]) -> list[QuantityFit]:
    """A fit of each quantity of each verb that was measured."""
    fits = []
    for verb in VERBS:
        for quantity in QUANTITIES:
            if quantity == "bandwidth" and verb == "read":
                continue  # mask lookups do not change it (paper, section 4.2)
            size = wish.bandwidth_bytes if quantity == "bandwidth" else wish.latency_bytes
            fit = _fit(measured, quantity, verb, wish.statistic, size, current, others)
            if fit is not None:
                fits.append(fit)
    return fits


def _most_measured(fits: Sequence[QuantityFit]) -> Verb:
    """The verb with most distinct points; of several the first of `VERBS`."""
    points = {verb: sum(fit.distinct for fit in fits if fit.verb == verb) for verb in VERBS}
    return max(VERBS, key=lambda verb: (points[verb], -VERBS.index(verb)))


def nearest_profile(measured: Sequence[Measured], known: dict[str, Performance], wish: Wish = Wish()) -> str:
    """The model whose profile matches the measurements best; the measurements do not name the RNIC."""

    def error(performance: Performance) -> float:
        off: list[float] = []
        for verb in VERBS:
            for quantity in QUANTITIES:
                points, _ = _points(measured, quantity, verb, wish.statistic, None)
                if points and not (quantity == "bandwidth" and verb == "read"):
                    q_l, q_r, values = _arrays(points)
                    model = surfaces.of(quantity, performance, values, q_l, q_r)
                    off += list(np.abs(np.log(model.predict(model.believed, q_l, q_r) / values)))
        return float(np.mean(off)) if off else 0.0

    return min(known, key=lambda name: error(known[name]))


def _points(
    measured: Sequence[Measured], quantity: Quantity, verb: Verb, statistic: Statistic, wanted: int | None
) -> tuple[list[Point], int | None]:
    every = points_of(measured, quantity, verb, statistic)
    size = fitted_size(every, quantity, wanted)
    return [p for p in every if p.message_bytes == size], size


def _arrays(points: Sequence[Point]) -> tuple[least_squares.Floats, least_squares.Floats, least_squares.Floats]:
    return (
        np.array([p.q_l for p in points], dtype=np.float64),
        np.array([p.q_r for p in points], dtype=np.float64),
        np.array([p.value for p in points], dtype=np.float64),
    )


def _fit(
    measured: Sequence[Measured],
    quantity: Quantity,
    verb: Verb,
    statistic: Statistic,
    wanted: int | None,
    current: Performance,
    others: Sequence[Performance],
) -> QuantityFit | None:
    every = points_of(measured, quantity, verb, statistic)
    size = fitted_size(every, quantity, wanted)
    points = [p for p in every if p.message_bytes == size]
    if not points or size is None:
        return None
    q_l, q_r, values = _arrays(points)
    model = surfaces.of(quantity, current, values, q_l, q_r)
    found = least_squares.fit(model, q_l, q_r, values, surfaces.starts(quantity, current, others, values))
    present = model.predict(model.believed, q_l, q_r)
    total = float(np.sum((values - values.mean()) ** 2))
    current_r2 = None if found.r_squared is None else 1.0 - float(np.sum((present - values) ** 2)) / total
    current_error = float(np.sqrt(np.mean((present / values - 1.0) ** 2)))
    goodness = current.goodness if quantity == "bandwidth" else (current.latency_goodness or current.goodness)
    distinct = len({(p.q_l, p.q_r) for p in points})
    accepted, reason = judge(found, distinct, current_error, goodness)
    return QuantityFit(
        quantity=quantity,
        verb=verb,
        unit="Gbit/s" if quantity == "bandwidth" else "us",
        message_bytes=size,
        statistic="average" if quantity == "bandwidth" else statistic,
        points=[
            FittedPoint(
                source=p.source, q_l=p.q_l, q_r=p.q_r, measured=p.value, fitted=float(f), current=float(n), residual=p.value - float(f),
                relative=float(f) / p.value - 1.0,
            )
            for p, f, n in zip(points, found.fitted, present, strict=True)
        ],
        distinct=distinct,
        degrees_of_freedom=found.degrees_of_freedom,
        parameters={
            name: Parameter(
                value=float(found.parameters[j]), lower=float(found.lower[j]), upper=float(found.upper[j]), identified=found.identified[j],
                current=float(model.believed[j]),
            )
            for j, name in enumerate(model.names)
        },
        covariance=[[float(x) for x in row] for row in found.covariance],
        r_squared=found.r_squared,
        relative_error=found.relative_error,
        left_out_error=found.left_out_error,
        worst_relative=float(np.max(np.abs(found.fitted / values - 1.0))),
        current_r_squared=current_r2,
        current_relative_error=current_error,
        level=least_squares.LEVEL,
        interval_method=found.method,
        accepted=accepted,
        reason=reason,
        notes=[
            *_unidentified_notes(found, model.names, distinct),
            *_other_sizes_only({p.source for p in every}, {p.source for p in points}, quantity, size),
            *_bad_runs(found, points, values),
        ],
        by_size=_other_sizes(measured, verb, statistic, current) if quantity == "latency" else [],
    )  # fmt: skip


def _unidentified_notes(found: least_squares.Fit, names: Sequence[str], distinct: int) -> list[str]:
    notes = []
    hidden = [name for name, identified in zip(names, found.identified, strict=True) if not identified]
    if hidden:
        notes.append(
            f"{distinct} different (Q_l, Q_r) do not identify {', '.join(hidden)}: they stay near the current profile's values, and their"
            " wide intervals come from prior assumptions. Measure more combinations, with the masks of one direction varied while the"
            " other stays."
        )
    if found.degrees_of_freedom <= 0:
        notes.append(
            f"The fit has no more points than parameters ({len(names)}): the curve passes through the points, so R squared does not show"
            " how well it predicts other points."
        )
    elif found.degrees_of_freedom < 3:
        notes.append(f"Only {found.degrees_of_freedom} more points than parameters: the intervals assume a scatter and are wide.")
    return notes


def _other_sizes_only(sources: set[str], used: set[str], quantity: Quantity, size: int) -> list[str]:
    lost = sorted(sources - used)
    if not lost:
        return []
    named = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    return [
        f"{len(lost)} of {len(sources)} files have no measurement at {size} bytes and are not in this fit: {named}. Measure all files at"
        f" one size (-a), or choose another (--{quantity}-bytes)."
    ]


BAD_RUN = 0.1
"""A run this far from a fit to the others failed, or had other masks than its name encodes."""


def _bad_runs(found: least_squares.Fit, points: Sequence[Point], values: least_squares.Floats) -> list[str]:
    """Outlier runs; only if there are enough points to detect them."""
    off = np.abs(found.fitted / values - 1.0)
    if found.degrees_of_freedom < 2:
        return []
    alone = [i for i, one in enumerate(off) if one > max(BAD_RUN, 5.0 * float(np.median(off)))]
    return [
        f"{points[i].source} is {off[i]:.0%} off the curve through the other points: it has little weight in the fit, but full "
        "weight in R squared and in the comparison with the current profile. Measure it again, check its numbers of masks, or leave it out."
        for i in alone
    ]


def _other_sizes(measured: Sequence[Measured], verb: Verb, statistic: Statistic, current: Performance) -> list[SizeFit]:
    every = points_of(measured, "latency", verb, statistic)
    found = []
    for size in sorted({p.message_bytes for p in every}):
        points = [p for p in every if p.message_bytes == size]
        q_l, q_r, values = _arrays(points)
        model = surfaces.of("latency", current, values, q_l, q_r)
        fit = least_squares.fit(model, q_l, q_r, values, [], quick=True)
        found.append(
            SizeFit(
                message_bytes=size,
                points=len(points),
                parameters={name: float(fit.parameters[j]) for j, name in enumerate(model.names)},
                r_squared=fit.r_squared,
                worst_relative=float(np.max(np.abs(fit.fitted / values - 1.0))),
            )
        )
    return found


def _candidate(current: Performance, bandwidth: QuantityFit | None, latency: QuantityFit | None) -> Candidate:
    body = current.model_dump(include=set(Candidate.model_fields))
    for part in (bandwidth, latency):
        if part is None:
            continue
        body |= {name: parameter.value for name, parameter in part.parameters.items()}
        goodness = min(max(part.r_squared or 0.0, 1e-3), 1.0)
        if part.degrees_of_freedom <= 0:
            # R squared of a curve through all points is 1 whatever the truth is, and no later fit to more points could ever reach it.
            before = current.goodness if part.quantity == "bandwidth" else (current.latency_goodness or current.goodness)
            goodness = min(goodness, before)
        covariance = None if part.covariance is None else tuple(tuple(row) for row in part.covariance)
        # With as many parameters as points no scatter is visible: the assumed one per run is used.
        scatter = max(part.left_out_error or 0.0, part.relative_error, least_squares.NOISE)
        if part.quantity == "bandwidth":
            body |= {"goodness": goodness, "bandwidth_relative_sd": scatter, "bandwidth_covariance": covariance}
        else:
            body |= {"latency_goodness": goodness, "latency_relative_sd": scatter, "latency_covariance": covariance}
    return Candidate.model_validate(body)


def _notes(bandwidth: QuantityFit | None, latency: QuantityFit | None, measured: Sequence[Measured]) -> list[str]:
    notes = []
    if bandwidth is None:
        notes.append("No bandwidth was measured for this verb: u, v, m, n and w are unchanged.")
    if latency is None:
        notes.append("No latency was measured for this verb: a, b and c are unchanged.")
    queue_pairs = sorted({m.run.queue_pairs for m in measured if m.run.quantity == "bandwidth" and m.run.queue_pairs})
    if len(queue_pairs) > 1:
        notes.append(
            f"The bandwidth runs used different numbers of queue pairs ({', '.join(map(str, queue_pairs))}), "
            "which alone changes the bandwidth."
        )
    if any(m.run.verb == "atomic" for m in measured):
        notes.append("Runs of atomic verbs are not fitted: the model does not cover them.")
    return notes


def _what_was_there(measured: Sequence[Measured], wish: Wish) -> str:
    kinds = sorted({f"{m.run.verb} {m.run.quantity}" for m in measured})
    if not kinds:
        return "nothing to fit: no run has known mask counts"
    wanted = " and ".join(f"{n} bytes" for n in (wish.bandwidth_bytes, wish.latency_bytes) if n is not None)
    there = f"{', '.join(kinds)}{', but not at ' + wanted if wanted else ''}"
    return f"nothing to fit: the files contain {there}; bandwidth of send or write, or a latency, is required"
