"""Reads what the `perftest` tools print: `ib_send_bw`, `ib_write_lat`, `ib_read_bw` and the like, of any version since the column heads
carry their units, or the JSON that newer ones write.

A file may hold several runs, cut off anywhere, with warnings between the lines. What cannot be read is counted and named, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wallwatch.domain.performance.perftest_json import looks_like_json, parse_json
from wallwatch.domain.performance.perftest_runs import GBPS, Output, Quantity, Row, Run, Verb, title_of, verb_of

_SETTING = re.compile(r"^\s*(?P<name>Number of qps|Mtu|TX depth|Connection type)\s*:\s*(?P<value>\S+)")
_COLUMN = re.compile(r"#\w+|(?:BW \w+|MsgRate Port\d|MsgRate|[\d.]+% percentile|CPU_Util|t_\w+)\[[^\]]*\]|tps average")
_SINGLE = re.compile(r"^\s*\d+, ")
"""One of the latencies that `-U` and `-H` list before the table: its summary is what is fitted."""
_WHOLE_NUMBER = re.compile(r"\d\.(\d{2}|\d{6})$")
_FILE_NAME = re.compile(r"(?<![a-z])(send|write|read|atomic)_(bw|lat)(?![a-z])", re.IGNORECASE)

_US = {"usec": 1.0, "nsec": 1e-3, "msec": 1e3}


@dataclass(slots=True)
class _Head:
    """What was read since the last table."""

    verb: Verb | None = None
    bidirectional: bool = False
    settings: dict[str, str] = field(default_factory=dict)


def parse(text: str, name: str) -> Output:
    """Read one file.

    Parameters
    ----------
    text : str
        What the tool printed, of one side or of both; any line ends.
    name : str
        The file's name. It stands in for the title where that was cut off (`..._send_bw_...`).

    Examples
    --------
    >>> out = parse('''Send Latency Test
    ... #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
    ... 2       1000          2.71           4.15         2.74               2.75''', "run.log")
    >>> [(r.verb, r.quantity, r.rows[0].message_bytes, r.rows[0].average_us) for r in out.runs], out.problems
    ([('send', 'latency', 2, 2.75)], [])
    """
    if looks_like_json(text):
        return parse_json(text.replace("\x00", ""), name)
    out = Output(name)
    head = _Head()
    columns: list[str] = []
    run: Run | None = None
    damaged = 0
    lines = text.replace("\x00", "").splitlines(keepends=True)
    for line in lines:
        title = title_of(line)
        if title is not None:
            head, columns, run = _Head(*title), [], None
            continue
        setting = _SETTING.match(line)
        if setting and run is None:
            head.settings[setting.group("name")] = setting.group("value")
            continue
        if "#bytes" in line:
            columns = _COLUMN.findall(line[line.index("#bytes") :])
            run = _begin(out, head, columns)
            continue
        if run is None:
            continue
        # A number that was cut off may still be one: the last line counts without its end only where it ends as the tools write numbers.
        cut = line is lines[-1] and line == line.rstrip() and not _WHOLE_NUMBER.search(line)
        read = None if cut else _row(line, columns, out)
        if read is not None:
            run.rows.append(read)
        elif line.strip()[:1].isdigit() and not _SINGLE.match(line):
            damaged += 1
    if damaged:
        out.problems.append(f"{name}: {damaged} lines of its tables are cut off or damaged and were left out")
    out.runs = [one for one in out.runs if one.rows]
    if not out.runs:
        out.problems.append(f"{name}: no table of perftest with results; expected lines below a head that begins with #bytes")
    return out


def _begin(out: Output, head: _Head, columns: list[str]) -> Run | None:
    """A run for the table below a head line; None, with the reason noted, where it cannot be told what was measured."""
    quantity: Quantity = "latency" if any(c.startswith("t_") for c in columns) else "bandwidth"
    unknown = [c for c in columns if _unit(c) and c.startswith(("BW", "t_")) and _unit(c) not in GBPS and _unit(c) not in _US]
    if unknown:
        out.problems.append(f"{out.name}: the unit of the column {unknown[0]!r} is not known; its table was left out")
        return None
    verb = head.verb
    if verb is None:
        named = _FILE_NAME.search(out.name)
        if named is None:
            out.problems.append(f"{out.name}: a table without a title: neither it nor the file's name says send, write or read")
            return None
        verb = verb_of(named.group(1))
    run = Run(
        verb, quantity, head.bidirectional, _whole(head.settings.get("Number of qps")), _whole(head.settings.get("Mtu")),
        head.settings.get("Connection type"),
    )  # fmt: skip
    out.runs.append(run)
    return run


def _whole(text: str | None) -> int | None:
    digits = re.match(r"\d+", text or "")
    return int(digits.group()) if digits else None


def _unit(column: str) -> str:
    return column[column.index("[") + 1 : -1] if column.endswith("]") else ""


def _row(line: str, columns: list[str], out: Output) -> Row | None:
    """The values of a line, by column; None where the line is no whole row of numbers."""
    cells = line.split()
    if len(cells) < len(columns) or not columns:
        return None
    try:
        values = dict(zip(columns, (float(cell) for cell in cells[: len(columns)]), strict=True))
    except ValueError:
        return None
    message = values["#bytes"]
    if not message.is_integer() or message <= 0 or any(not 0 <= v < 1e15 for v in values.values()):
        return None

    def value(prefix: str, units: dict[str, float]) -> float | None:
        for column, number in values.items():
            if column.startswith(prefix) and _unit(column) in units and number > 0:
                return number * units[_unit(column)]
        return None

    average, rate = value("BW average", GBPS), value("MsgRate[", {"Mpps": 1.0})
    if average is not None and rate is not None and rate >= 0.01:
        counted = rate * message * 8 / 1e3
        if abs(average - counted) > 0.1 * max(average, counted):
            out.problems.append(
                f"{out.name}: at {message:.0f} bytes the bandwidth is {average:.1f} Gbit/s and the message rate says {counted:.1f};"
                " the row was left out"
            )
            return None
    iterations = values.get("#iterations")
    return Row(
        int(message),
        None if iterations is None else int(iterations),
        average_gbps=average,
        peak_gbps=value("BW peak", GBPS),
        rate_mpps=rate,
        average_us=value("t_avg", _US),
        typical_us=value("t_typical", _US),
        p99_us=value("99% percentile", _US),
    )
