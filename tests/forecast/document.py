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

LIMITS = """## Limits of these figures

- Peers are chosen at random, so slow RNICs often receive more load than they can carry.
- To cover 90% of the walls that are reached, the forecast must report "possible within the hour" for many RNICs with steady loads,
  because no measurement shows when a load will begin. How many depends on the fleet: these fleets grow strongly.
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
    lines.append(LIMITS)
    return "\n".join(lines)


def _rhythm(by_way: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The table of daily and weekly rhythms."""
    rows = [f"| {way} | " + " | ".join(f"{by[h]:.1%}" for h in ("15", "30", "60")) + " |" for way, by in by_way.items()]
    return [RHYTHM, *rows, ""]


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
