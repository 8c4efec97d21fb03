"""A line of a table of `perftest`, by the heads of its columns."""

from __future__ import annotations

import math
import re

from wallwatch.domain.perftest.runs import GBPS, Row

Columns = list[str]
"""Heads with their units, such as `BW average[Gb/sec]`, in the order of the cells."""

US = {"usec": 1.0, "nsec": 1e-3, "msec": 1e3}
"""Microseconds for one of a unit that heads of columns name."""
_COLUMN = re.compile(r"#\w+|(?:BW \w+|MsgRate Port\d|MsgRate|[\d.]+% percentile|CPU_Util|t_\w+)\[[^\]]*\]|tps average")
_DECIMAL_COMMA = re.compile(r"^(\d+),(\d{2}|\d{6})$")
"""As some spreadsheets and locales write 92.53: the tools print two or six decimals, and commas of thousands stand before three digits."""
_ALIKE = 0.1


class Unusable(ValueError):
    """A line that is not a measurement; the message gives the reason, once for all lines with the same one."""


def columns_of(line: str) -> Columns:
    """The columns that a head line names.

    >>> columns_of(" #bytes #iterations    t_avg[usec]    tps average")
    ['#bytes', '#iterations', 't_avg[usec]', 'tps average']
    """
    return _COLUMN.findall(line[line.index("#bytes") :])


def unknown_unit(columns: Columns) -> str | None:
    """A column of bandwidth or time whose unit is unknown."""
    return next((c for c in columns if _unit(c) and c.startswith(("BW", "t_")) and _unit(c) not in GBPS and _unit(c) not in US), None)


def row_of(line: str, columns: Columns) -> Row:
    """The values of a line, by column.

    Raises
    ------
    Unusable
        If it is not a complete row of numbers, nothing was measured, or its numbers contradict each other.
    """
    cells = [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in line.split()]
    if len(cells) < len(columns) or not columns:
        raise Unusable("truncated or damaged")
    try:
        values = dict(zip(columns, (float(cell) for cell in cells[: len(columns)]), strict=True))
    except ValueError:
        raise Unusable("truncated or damaged") from None
    if any(math.isnan(v) or math.isinf(v) for v in values.values()):
        raise Unusable("a value is nan or inf: the tool divided by no time")
    message = values["#bytes"]
    if not message.is_integer() or message <= 0 or any(not 0 <= v < 1e15 for v in values.values()):
        raise Unusable("truncated or damaged")

    def value(prefix: str, units: dict[str, float]) -> float | None:
        for column, number in values.items():
            if column.startswith(prefix) and _unit(column) in units and number > 0:
                return number * units[_unit(column)]
        return None

    iterations = values.get("#iterations")
    row = Row(
        int(message),
        None if iterations is None else int(iterations),
        average_gbps=value("BW average", GBPS),
        peak_gbps=value("BW peak", GBPS),
        rate_mpps=value("MsgRate[", {"Mpps": 1.0}),
        average_us=value("t_avg", US),
        typical_us=value("t_typical", US),
        p99_us=value("99% percentile", US),
    )
    if row.average_gbps is None and row.peak_gbps is None and row.average_us is None and row.typical_us is None:
        raise Unusable("its bandwidth or latency is 0: nothing was measured")
    if row.average_gbps is not None and row.rate_mpps is not None and row.rate_mpps >= 0.01:
        counted = row.rate_mpps * message * 8 / 1e3
        if abs(row.average_gbps - counted) > _ALIKE * max(row.average_gbps, counted):
            raise Unusable(
                f"at {message:.0f} bytes the bandwidth is {row.average_gbps:.1f} Gbit/s and the message rate gives {counted:.1f}"
            )
    return row


def _unit(column: str) -> str:
    return column[column.index("[") + 1 : -1] if column.endswith("]") else ""
