"""Reads what the `perftest` tools print: `ib_send_bw`, `ib_write_lat`, `ib_read_bw` and the like, of any version since the column heads
carry their units, or the JSON that newer ones write.

A file may hold several runs, cut off anywhere, with warnings between the lines. What cannot be read is counted and named, never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wallwatch.domain.perftest.json_output import looks_like_json, parse_json
from wallwatch.domain.perftest.rows import US, Columns, Unusable, columns_of, row_of, unknown_unit
from wallwatch.domain.perftest.runs import Output, Quantity, Run, Verb, title_of, verb_of
from wallwatch.domain.perftest.text import lines_of

_SETTING = re.compile(r"^\s*(?P<name>Number of qps|Mtu|TX depth|Connection type)\s*:\s*(?P<value>\S+)")
_SINGLE = re.compile(r"^\s*\d+, ")
"""One of the latencies that `-U` and `-H` list before the table: its summary is fitted."""
_LISTED_IN = re.compile(r"^\s*#, (\w+)\s*$")
"""Head of that list: its unit is the table's too, whatever the table's header states (`-C` gives cycles)."""
_ONE_SIDE = re.compile(r"^\s*(Local|Remote) results:\s*$")
"""Above the shares of a bandwidth in both directions (`--report-both`), after the table of their sum."""
_WHOLE_NUMBER = re.compile(r"\d[.,](\d{2}|\d{6})$")
_FILE_NAME = re.compile(r"(?<![a-z])(send|write|read|atomic)_(bw|lat)(?![a-z])", re.IGNORECASE)


@dataclass(slots=True)
class _Head:
    """State since the last table."""

    verb: Verb | None = None
    bidirectional: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    one_side: bool = False


def parse(text: str, name: str) -> Output:
    """Read one file.

    Parameters
    ----------
    text : str
        What the tool printed, of one side or of both; any line ends.
    name : str
        The file's name. It replaces a truncated title (`..._send_bw_...`).

    Examples
    --------
    >>> out = parse('''Send Latency Test
    ... #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
    ... 2       1000          2.71           4.15         2.74               2.75''', "run.log")
    >>> [(r.verb, r.quantity, r.rows[0].message_bytes, r.rows[0].average_us) for r in out.runs], out.problems
    ([('send', 'latency', 2, 2.75)], [])
    """
    lines = lines_of(text)
    if looks_like_json("".join(lines[:5])):
        return parse_json("".join(lines), name)
    out = Output(name)
    head = _Head()
    columns: Columns = []
    run: Run | None = None
    unusable: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        title = title_of(line)
        if title is not None:
            head, columns, run = _Head(*title), [], None
            continue
        setting = _SETTING.match(line)
        if setting and run is None:
            head.settings[setting.group("name")] = setting.group("value")
            continue
        if _ONE_SIDE.match(line):
            head.one_side, run = True, None
            continue
        if "#bytes" in line:
            columns = columns_of(line)
            run = None if head.one_side else _begin(out, head, columns)
            continue
        if run is None:
            continue
        listed = _LISTED_IN.match(line)
        if listed and listed.group(1) not in US:
            out.problems.append(f"{name}: its latencies are in {listed.group(1)} (-C), not in microseconds; its table was skipped")
            out.runs.remove(run)
            run = None
            continue
        if not line.strip()[:1].isdigit() or _SINGLE.match(line):
            continue
        # A truncated number may still be a number: an unterminated last line counts only if it ends the way the tools write numbers.
        cut = number == len(lines) and line == line.rstrip() and not _WHOLE_NUMBER.search(line)
        try:
            run.rows.append(row_of("" if cut else line, columns))
        except Unusable as problem:
            unusable[str(problem)] += 1
    out.problems += [_left_out(name, count, why) for why, count in unusable.items()]
    out.runs = [one for one in out.runs if one.rows]
    if not out.runs and not out.problems:
        out.problems.append(_nothing(name, lines))
    return out


def _left_out(name: str, count: int, why: str) -> str:
    return f"{name}: {'a line' if count == 1 else f'{count} lines'} of its tables skipped: {why}"


def _nothing(name: str, lines: Sequence[str]) -> str:
    if not any(line.strip() for line in lines):
        return f"{name}: the file is empty"
    if any("#bytes" in line for line in lines):
        return f"{name}: a perftest table without results: the run was aborted, or this side prints none"
    return (
        f"{name}: no perftest table; expected lines below a header that starts with #bytes, or the JSON of --out_json"
        " (--output prints a bare number without its message size)"
    )


def _begin(out: Output, head: _Head, columns: Columns) -> Run | None:
    """A run for the table below a head line; None, with the reason noted, if the measurement is unknown."""
    quantity: Quantity = "latency" if any(c.startswith("t_") for c in columns) else "bandwidth"
    unknown = unknown_unit(columns)
    if unknown is not None:
        out.problems.append(f"{out.name}: unknown unit of the column {unknown!r}; its table was skipped")
        return None
    verb = head.verb
    if verb is None:
        named = _FILE_NAME.search(out.name)
        if named is None:
            out.problems.append(f"{out.name}: a table without a title: neither the table nor the file name contains send, write or read")
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
