"""docs/forecast-evaluation.{json,md}: the figures, as measured. `python -m tests.forecast.document [--check]` writes the page again."""

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

INTRODUCTION = """# How good are forecasts?

Written by `make evaluate-forecasts`; how forecasts are made is in [forecast.md](forecast.md).

Trained on {rnic_hours} RNIC-hours of {seen} simulated fleets (model `{model}`, {cpu_s} s of CPU time), judged on {judged_hours} RNIC-hours
of {fleets} others: other seeds, other rhythms, and four workloads that training does not have (`tests/forecast/draw.py`). In the judged
fleets all peers are inside, so `Q_r` is joined over them. The truth is what the simulator's mechanism could do in each minute
(`fleetsim record --performance`), written apart from the formulas of the pipelines; it has 1.5 % noise of its own, about 0.6 % in the
mean of a minute. Ahead means minutes after the forecast was made.

No choice was made on the judged fleets. They were judged twice, as the first time showed a fault: what is ahead was bounded by what a
PCIe link carries by its speed and lanes, also where more is sent (bandwidth at 15 minutes 94.9 % then; now, latency and declines the
same). Thresholds, constants of the cold start and the parameters of models were chosen on {development} fleets of development (those that
were judged before among them); intervals, and how much wider they are made, come from fleets that training kept apart.
Of the fleets of development, 36 were judged before:

| fleets | bandwidth now | 15 min | declines: recall | precision | what was changed then |
|---|---|---|---|---|---|
| six | | | 97.8% | 85.6% | the threshold |
| six | 99.0% | 95.5% | 93.8% | 89.2% | the classifier of falls learns from half as many fleets again, in more and smaller steps |
| twelve | 98.7% | 95.3% | 89.7% | 93.6% | thresholds, chosen on 31 fleets: recall and precision as far above 90 % as each other |
| twelve | 98.8% | 95.7% | 93.2% | 92.1% | capacities too tell what congested RNICs hold back (`forecast/throttle_tracker.py`) |

Fleets differ much: precision was 83 to 99 % on single ones (growth that stops looks like growth that goes on), and bandwidth now 97.8 to
99.4 % (in some, cards are asked for ten times what they carry). Of the mean error now 0.5 points are the mechanism's noise.

## Accuracy

1 - mean absolute relative error (as in the paper), and in brackets the 99th percentile of the error.
"""

DECLINES = """## Declines

A decline is a minute at which the bandwidth of the mechanism has fallen by 5 % from its highest value since the decline before. It is found
when it was said between an hour and 5 minutes before. A forecast that says one came true when the bandwidth fell by 5 % below its value
then within the hour; *begun* counts only the first of the forecasts that say so one after another. Sudden ones fell by 10 % or more
within the 5 minutes, from a standstill: only a rhythm could tell them. Loads of these fleets grow much: {always:.1%} of all moments were
followed by such a fall, which is the precision of saying so always; the forecast says it at {said:.1%} of them. When a decline is
said: [forecast.md](forecast.md).

| | found | recall | without sudden ones | forecasts that came true | precision | begun that came true | precision |
|---|---|---|---|---|---|---|---|"""

INTERVALS = """How much of the bandwidth the 90 % intervals cover:

| | 1 min | 5 min | 15 min | 30 min | 60 min |
|---|---|---|---|---|---|"""

CURVE = """The threshold is a point of this curve of the {fleets} fleets of development: a decline is said from a chance of {said_from} on.

| said from a chance of | recall | precision | precision of begun | said at |
|---|---|---|---|---|"""

REACHED = """## Time to a wall

Of {of} forecasts that said that a wall might be reached within the hour, or should have said so, {inside} were right within their
interval: {coverage:.1%} (nominal 90 %). {earlier} walls were reached earlier, {later} later. Of the {came} that were reached, the
interval had {coverage_of_reached:.1%}. Cold start: {cold:.1%} of {cold_of}, and {cold_reached:.1%} of those that were reached.
Another {silent} forecasts said rightly that nothing would happen.
"""

RHYTHM = """## Rhythm of day and week

Jobs that come at the same minutes of each day, within some minutes; for a half of the RNICs not at the weekend. The loads are made up
(`tests/forecast/rhythm.py`): learnt from two weeks, judged on the four days after, at the moments after which the egress masks moved. Mean
absolute error as a share of the wall.

| | 15 min | 30 min | 60 min |
|---|---|---|---|"""

LIMITS = """## What these figures do not tell

- Who talks to whom is drawn at random, so slow cards are often asked for more than they carry.
- To have nine of ten walls that are reached in their interval, "possible within the hour" must be said of many RNICs whose loads stand
  still: when a load begins is not in what is measured. How many is of the fleet: these fleets grow much.
- Queues in front of the cards are not part of the latency.
- Three hours a fleet show rhythms of an hour only; those of a day and a week are judged on loads that are made up, without the mechanism.
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
        DECLINES.format(always=trained["declines"]["precision_of_always"], said=trained["declines"]["said_share"]),
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
    """The table of rhythms of day and week."""
    rows = [f"| {way} | " + " | ".join(f"{by[h]:.1%}" for h in ("15", "30", "60")) + " |" for way, by in by_way.items()]
    return [RHYTHM, *rows, ""]


def _point(one: Mapping[str, Any]) -> str:
    """One line of the curve of recall against precision."""
    shares = " | ".join(f"{one[name]:.1%}" for name in ("recall", "precision", "precision_of_begun", "said_share"))
    return f"| {one['from']} | {shares} |"


def _cell(one: Mapping[str, Any] | None) -> str:
    return "" if one is None else f"{one['accuracy']:.1%} ({one['p99_error']:.1%})"


def _declines(way: str, d: Mapping[str, Any]) -> str:
    shares = [d["recall"], d["recall_without_sudden"], d["precision"]]
    recall, without, precision = ("" if s is None else f"{s:.1%}" for s in shares)
    begun = "" if d["precision_of_begun"] is None else f"{d['precision_of_begun']:.1%}"
    came = f"{d['right']} of {d['alarms']} | {precision} | {d['begun_right']} of {d['begun']} | {begun}"
    return f"| {way} | {d['found']} of {d['there']} | {recall} | {without} | {came} |"


def main(given: list[str]) -> int:
    """Write the page again, or only say that it is not what the figures give."""
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
