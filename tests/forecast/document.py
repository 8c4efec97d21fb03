"""docs/forecast-evaluation.{json,md}: the figures, as measured. `python -m tests.forecast.document [--check]` writes the page again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import orjson

from wallwatch_local.paths import REPOSITORY

JSON = REPOSITORY / "docs/forecast-evaluation.json"
PAGE = REPOSITORY / "docs/forecast-evaluation.md"
HORIZONS = ("0", "1", "5", "15", "30", "60")

INTRODUCTION = """# How good are forecasts?

Written by `make evaluate-forecasts`; how forecasts are made is in [forecast.md](forecast.md).

Trained on {rnic_hours} RNIC-hours of ten simulated fleets (model `{model}`, {cpu_s} s of CPU time), judged on {fleets} others: other
seeds, other lengths and ends of growth, and two workloads that training does not have (`tests/forecast/draw.py`). The truth is what the
simulator's mechanism could do in each minute (`fleetsim record --performance`), written apart from the formulas of the pipelines; it has
1.5 % noise of its own, about 0.6 % in the mean of a minute. Ahead means minutes after the forecast was made.

## Accuracy

1 - mean absolute relative error (as in the paper), and in brackets the 99th percentile of the error.
"""

DECLINES = """## Declines

A decline is a minute at which the bandwidth of the mechanism has fallen by 5 % from its highest value since the decline before. It is found
when a forecast of a decline was made between an hour and 5 minutes before. A forecast of one came true when the bandwidth fell by 5 % below
its value then within the hour. Sudden ones fell by 10 % or more within the 5 minutes, from a standstill: only a rhythm could tell them.

| | found | recall | without sudden ones | forecasts that came true | precision |
|---|---|---|---|---|---|"""

REACHED = """## Time to a wall

Of {of} forecasts that said that a wall might be reached within the hour, or should have said so, {inside} were right within their
interval: {coverage:.1%} (nominal 90 %). {earlier} walls were reached earlier, {later} later. Cold start: {cold:.1%} of {cold_of}.
Another {silent} forecasts said rightly that nothing would happen.

## What these figures do not tell

- Most peers are outside of the simulated fleets, so `Q_r` is near 0 here; what is left of it is part of the error of the bandwidth now.
- Queues in front of the cards are not part of the latency.
- Three hours a fleet show rhythms of an hour. Those of a day and a week have features and tests, and no figure.
- The judged fleets are not untouched: earlier versions were judged on them. Learnt from them is that declines need a margin (its size, 1 %,
  was then chosen on two fleets of training) and that a narrow PCIe link bounds the bandwidth. Figures of fresh seeds may be a little lower.
"""


def write(found: dict[str, Any]) -> None:
    """Write both files."""
    JSON.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n")
    PAGE.write_text(page(found))


def page(found: Mapping[str, Any]) -> str:
    """The page, from the figures alone."""
    trained, cold, data = found["trained"], found["cold_start"], found["training"]
    lines = [
        INTRODUCTION.format(rnic_hours=data["rnic_hours"], model=found["model"], cpu_s=data["cpu_s"], fleets=found["judged_fleets"]),
    ]
    for quantity, title in (("bandwidth", "Bandwidth"), ("latency", "Latency")):
        lines += [f"| {title} | now | 1 min | 5 min | 15 min | 30 min | 60 min |", "|---|---|---|---|---|---|---|"]
        ways = {**trained[quantity], "cold start": cold[quantity]["forecast"]}
        lines += [f"| {way} | " + " | ".join(_cell(by.get(h)) for h in HORIZONS) + " |" for way, by in ways.items()]
        lines.append("")
    lines += [
        f"The 90 % interval of the bandwidth at 15 minutes covers {trained['bandwidth_interval_15min']:.1%}.",
        "",
        DECLINES,
        _declines("forecast", trained["declines"]),
        _declines("cold start", cold["declines"]),
        "",
        REACHED.format(**trained["time_to_wall"], cold=cold["time_to_wall"]["coverage"], cold_of=cold["time_to_wall"]["of"]),
    ]
    return "\n".join(lines)


def _cell(one: Mapping[str, Any] | None) -> str:
    return "" if one is None else f"{one['accuracy']:.1%} ({one['p99_error']:.1%})"


def _declines(way: str, d: Mapping[str, Any]) -> str:
    shares = [d["recall"], d["recall_without_sudden"], d["precision"]]
    recall, without, precision = ("" if s is None else f"{s:.1%}" for s in shares)
    return f"| {way} | {d['found']} of {d['there']} | {recall} | {without} | {d['right']} of {d['alarms']} | {precision} |"


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
