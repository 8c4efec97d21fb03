"""docs/forecast-evaluation.{json,md}: the measured figures. `python -m tests.forecast.document [--check]` writes the page again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import orjson

from wallwatch.domain.forecast.decline import SAID_FROM
from wallwatch_local.paths import REPOSITORY

JSON = REPOSITORY / "docs/forecast-evaluation.json"
PAGE = REPOSITORY / "docs/forecast-evaluation.md"
HORIZONS = ("0", "1", "5", "15", "30", "60")

INTRODUCTION = """# Evaluation of forecasts

`make evaluate-forecasts` writes this page; [forecast.md](forecast.md) describes how forecasts work.

- **Training**: {rnic_hours} RNIC-hours of {seen} simulated fleets (model `{model}`, {cpu_s} s of CPU time).
- **Evaluation**: {judged_hours} RNIC-hours of {fleets} other fleets, with other seeds, other rhythms, and four workloads that are not
  in the training data (`tests/forecast/draw.py`). All their peers are inside the fleet, so `Q_r` is joined over them.
- **Truth**: the performance that the simulator's mechanism allowed in each minute (`fleetsim record --performance`), implemented
  separately from the formulas of the pipelines. It has 1.5% noise, about 0.6% in the mean of a minute.
- **Horizons** are minutes after the forecast.

No parameter was chosen on the evaluated fleets.
They were evaluated twice, because the first run revealed a fault: forecasts were capped at the bandwidth of the PCIe link by speed and
lanes even where more was sent (bandwidth at 15 minutes was 94.9%; current bandwidth, latency and declines were the same).
Thresholds, constants of the cold start and model parameters were chosen on {development} development fleets, which include fleets from
earlier evaluations. Intervals and their widening come from fleets that training held out.
36 of the development fleets were evaluated earlier:

| fleets | bandwidth now | 15 min | declines: recall | precision | changed afterwards |
|---|---|---|---|---|---|
| six | | | 97.8% | 85.6% | the threshold |
| six | 99.0% | 95.5% | 93.8% | 89.2% | the decline classifier trains on 50% more fleets, in more and smaller steps |
| twelve | 98.7% | 95.3% | 89.7% | 93.6% | thresholds, chosen on 31 fleets so that recall and precision exceed 90% equally |
| twelve | 98.8% | 95.7% | 93.2% | 92.1% | capacities also show what congested RNICs hold back (`forecast/throttle_tracker.py`) |

Fleets differ considerably. Precision was 83 to 99% on single fleets (growth that stops looks like growth that continues), and current
bandwidth 97.8 to 99.4% (in some fleets, the load on RNICs is ten times what they can carry).
0.5 percentage points of the current mean error are the mechanism's noise.

## Accuracy

1 - mean absolute relative error (as in the paper), and in brackets the 99th percentile of the error.
"""

DECLINES = """## Declines

- A **decline** is a minute at which the mechanism's bandwidth is 5% below its highest value since the previous decline.
- It is **found** if it was predicted between an hour and 5 minutes before.
- A forecast of a decline is **correct** if the bandwidth fell within the hour by 5% below its value at the time of the forecast.
  *First* counts only the first of several consecutive forecasts of a decline.
- **Sudden** declines are 10% or more within 5 minutes, from a steady state: only a rhythm could predict them.

The loads of these fleets grow strongly: {always:.1%} of all moments were followed by a decline, which is the precision of predicting one
always. The forecast predicts one at {share:.1%} of all moments. [forecast.md](forecast.md) describes when it does.

| | found | recall | without sudden ones | correct forecasts | precision | correct first forecasts | precision |
|---|---|---|---|---|---|---|---|"""

INTERVALS = """Coverage of the 90% intervals of bandwidth:

| | 1 min | 5 min | 15 min | 30 min | 60 min |
|---|---|---|---|---|---|"""

CURVE = """Thresholds, on the {fleets} development fleets; the forecast predicts a decline from a probability of {said_from} on.

| probability threshold | recall | precision | precision of first forecasts | share of moments with a prediction |
|---|---|---|---|---|"""

REACHED = """## Time to a wall

{of} forecasts predicted that a wall might be reached within the hour, or should have predicted it.
{inside} of them were right within their interval: {coverage:.1%} (nominal 90%). {earlier} walls were reached earlier, {later} later.
The intervals contained {coverage_of_reached:.1%} of the {came} walls that were reached.
Cold start: {cold:.1%} of {cold_of}, and {cold_reached:.1%} of the reached walls.
Another {silent} forecasts predicted correctly that no wall would be reached.
"""

RHYTHM = """## Daily and weekly rhythm

Jobs start at about the same minutes of each day; on half of the RNICs, not at the weekend.
The loads are synthetic (`tests/forecast/rhythm.py`): trained on two weeks, evaluated on the following four days, at the moments after
which the egress masks changed. The figures are mean absolute errors as a share of the wall.

| | 15 min | 30 min | 60 min |
|---|---|---|---|"""

BEFORE = """The figures of this section and of the cold start's declines below were measured before three changes: what `Q_l` and `Q_r`
contribute to the bandwidth's interval adds up in quadrature, interval widths follow their outcomes, and a cold start reports declines only
together with a likely limit. [New installation](#new-installation) has the figures after them.
"""

LIVE = """## New installation

The base model (`{base_model}`, trained on {base_fleets} fleets) as the job uses it, minute by minute, on {fleets} fleets with seeds
that nothing was trained or chosen on ({first} to {last}), one after the other as if they were {hours} hours of one fleet: interval
widths go on from fleet to fleet. `python -m tests.forecast.live` measures this section.

### Intervals

Coverage of the 90% intervals, and in brackets their mean width: of bandwidths as a share of the likely value, of loads as a share of the
limit. *As trained* are intervals as calibrated by training, *following* are those whose widths follow their outcomes
(`domain/forecast/interval_widths.py`). Bandwidths are compared with the mechanism's, with 1.2% for its own noise.
{before}

| bandwidth | 1 min | 5 min | 15 min | 30 min | 60 min |
|---|---|---|---|---|---|"""

BEFORE_QUADRATURE = (
    "Before `Q_l` and `Q_r` were combined in quadrature, the intervals of bandwidth as trained covered 96.1%, 96.2%, 97.7%, 98.8% and\n"
    "99.1% (0.054, 0.142, 0.317, 0.457 and 0.650) on the same fleets."
)
"""Measured once, with the version before; the code is gone."""

LOADS = """
| loads, 15 min | steady, as trained | following | growing, as trained | following |
|---|---|---|---|---|"""

AFTER_LOADS = """
Masks of steady RNICs mostly stay as they are, so an interval covers them whatever its width; growing values show what an interval is worth.
Over all loads and horizons, coverage was {trained:.1f} percentage points from 90% on average as trained and {rolling:.1f} when following.

### Chance of a limit

Forecasts of limits that were not reached yet, by the chance that they stated, and how many were reached within the hour.

| chance | base model: n | stated | reached | cold start: n | stated | reached |
|---|---|---|---|---|---|---|"""

WARNED = """
The base model warned (chance of 0.5 or more) {warned} times, and {came_true:.1%} of these limits were reached; {walls_warned:.1%} of the
forecasts whose limit was reached had warned. The cold start: {cold_warned} times, {cold_came_true:.1%} and {cold_walls_warned:.1%}. The
others begin from a standstill.

Declines, reported only together with a likely limit: the base model found {recall:.1%} of {there}, {precision:.1%} of its forecasts came
true; the cold start found {cold_recall:.1%}, {cold_precision:.1%} came true.

### An hour of the demo

`make demo` has {rnics} RNICs and two scripted faults. From the first minute on, warned of by the base model and by a cold start:

| RNIC | base model | cold start |
|---|---|---|"""

LIMITS = """## Limits of these figures

- Peers are chosen at random, so slow RNICs often receive more load than they can carry.
- To cover 90% of the walls that are reached, the earliest times of many RNICs with steady loads lie within the hour, because no
  measurement shows when a load will begin. How many depends on the fleet: these fleets grow strongly. Wallwatch warns of none of them.
- Queues in front of the RNICs are not part of the latency.
- Three hours per fleet show only hourly rhythms; daily and weekly rhythms are evaluated on synthetic loads without the mechanism.
"""


def write(found: dict[str, Any]) -> None:
    """Write both files."""
    JSON.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n")
    PAGE.write_text(page(found))


def page(found: Mapping[str, Any]) -> str:
    """The page, from the figures alone."""
    trained, cold, data = found["trained"], found["cold_start"], found["training"]
    lines = [
        INTRODUCTION.format(
            rnic_hours=data["rnic_hours"],
            seen=found["seen_fleets"],
            model=found["model"],
            cpu_s=data["cpu_s"],
            fleets=found["judged_fleets"],
            judged_hours=found["judged_rnic_hours"],
            development=found["development_fleets"],
        ),
    ]
    for quantity, title in (("bandwidth", "Bandwidth"), ("latency", "Latency")):
        lines += [f"| {title} | now | 1 min | 5 min | 15 min | 30 min | 60 min |", "|---|---|---|---|---|---|---|"]
        ways = {**trained[quantity], "cold start": cold[quantity]["forecast"]}
        lines += [f"| {way} | " + " | ".join(_cell(by.get(h)) for h in HORIZONS) + " |" for way, by in ways.items()]
        lines.append("")
    lines += [
        INTERVALS,
        *(
            f"| {way} | " + " | ".join(f"{one['bandwidth_interval'][h]:.1%}" for h in HORIZONS[1:]) + " |"
            for way, one in (("forecast", trained), ("cold start", cold))
        ),
        "",
        *([] if found.get("combined_intervals") else [BEFORE]),
        DECLINES.format(always=trained["declines"]["precision_of_always"], share=trained["declines"]["said_share"]),
        _declines("forecast", trained["declines"]),
        _declines("cold start", cold["declines"]),
        "",
        CURVE.format(fleets=found["development_fleets"], said_from=SAID_FROM),
        *(_point(one) for one in found["decline_curve"]),
        "",
        REACHED.format(
            **trained["time_to_wall"],
            cold=cold["time_to_wall"]["coverage"],
            cold_of=cold["time_to_wall"]["of"],
            cold_reached=cold["time_to_wall"]["coverage_of_reached"],
        ),
    ]
    if "rhythm" in found:
        lines += _rhythm(found["rhythm"])
    if "live" in found:
        lines += _live(found["live"])
    lines.append(LIMITS)
    return "\n".join(lines)


def _rhythm(by_way: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The table of daily and weekly rhythms."""
    rows = [f"| {way} | " + " | ".join(f"{by[h]:.1%}" for h in ("15", "30", "60")) + " |" for way, by in by_way.items()]
    return [RHYTHM, *rows, ""]


def _live(live: Mapping[str, Any]) -> list[str]:
    """The section on new installations."""
    trained, rolling, cold = live["trained"], live["rolling"], live["cold"]
    seeds = live["seeds"]
    head = LIVE.format(
        base_model=live["base_model"],
        base_fleets=live["base_fleets"],
        fleets=len(seeds),
        first=seeds[0],
        last=seeds[-1],
        hours=3 * len(seeds),
        before=BEFORE_QUADRATURE,
    )
    lines = [head]
    for way, one in (("as trained", trained), ("following", rolling), ("cold start", cold)):
        cells = (f"{one['bandwidth'][h]['covered']:.1%} ({one['bandwidth'][h]['width']:.3f})" for h in HORIZONS[1:])
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    lines.append(LOADS)
    for name in trained["loads"]:
        of = [one["loads"][name]["15"][regime] for regime in ("steady", "growing") for one in (trained, rolling)]
        lines.append(f"| `{name}` | " + " | ".join(_covered(one) for one in of) + " |")
    lines.append(AFTER_LOADS.format(trained=_distance(trained), rolling=_distance(rolling)))
    for ours, colds, upper in zip(rolling["chances"], cold["chances"], (*[one["from"] for one in cold["chances"][1:]], 1.0), strict=True):
        cells = (f"{one['n']} | {_percent(one['said'])} | {_percent(one['came'])}" for one in (ours, colds))
        lines.append(f"| {ours['from']:.0%} to {upper:.0%} | " + " | ".join(cells) + " |")
    declines = live["declines"]
    lines.append(
        WARNED.format(
            **{name: rolling[name] for name in ("warned", "came_true", "walls_warned")},
            **{f"cold_{name}": cold[name] for name in ("warned", "came_true", "walls_warned")},
            **{name: declines["rolling"][name] for name in ("there", "recall", "precision")},
            **{f"cold_{name}": declines["cold"][name] for name in ("recall", "precision")},
            rnics=live["demo"]["base"]["rnics"],
        )
    )
    warned = {way: live["demo"][way]["warned"] for way in ("base", "cold")}
    for rnic in sorted({*warned["base"], *warned["cold"]}):
        lines.append(f"| {rnic} | " + " | ".join(", ".join(of.get(rnic, ["nothing"])) for of in warned.values()) + " |")
    quiet = live["demo"]["base"]["rnics"] - len({*warned["base"], *warned["cold"]})
    return [*lines, f"\nThe other {quiet} RNICs were warned of nothing in any minute.\n"]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _covered(one: Mapping[str, Any]) -> str:
    return "" if one["covered"] is None else f"{one['covered']:.1%} ({one['width']:.4f})"


def _distance(way: Mapping[str, Any]) -> float:
    """Mean distance of the coverage of loads from 90%, in percentage points: over targets, horizons and regimes."""
    cells = [one["covered"] for load in way["loads"].values() for by_regime in load.values() for one in by_regime.values()]
    known = [share for share in cells if share is not None]
    return 100.0 * sum(abs(share - 0.9) for share in known) / len(known)


def _point(one: Mapping[str, Any]) -> str:
    """One line of the curve of recall vs. precision."""
    shares = " | ".join(f"{one[name]:.1%}" for name in ("recall", "precision", "precision_of_begun", "said_share"))
    return f"| {one['from']} | {shares} |"


def _cell(one: Mapping[str, Any] | None) -> str:
    return "" if one is None else f"{one['accuracy']:.1%} ({one['p99_error']:.1%})"


def _declines(way: str, d: Mapping[str, Any]) -> str:
    shares = [d["recall"], d["recall_without_sudden"], d["precision"]]
    recall, without, precision = ("" if s is None else f"{s:.1%}" for s in shares)
    first = "" if d["precision_of_begun"] is None else f"{d['precision_of_begun']:.1%}"
    came = f"{d['right']} of {d['alarms']} | {precision} | {d['begun_right']} of {d['begun']} | {first}"
    return f"| {way} | {d['found']} of {d['there']} | {recall} | {without} | {came} |"


def main(given: list[str]) -> int:
    """Write the page again, or with --check report that it does not match the figures."""
    text = page(orjson.loads(JSON.read_bytes()))
    if PAGE.read_text() == text:
        return 0
    if "--check" in given:
        print(f"out of date: {PAGE} (run 'make generate')", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
