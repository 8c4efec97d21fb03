"""What commands print: a table for people; JSON, YAML or CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple


class Format(StrEnum):
    """Formats of `--output`."""

    table = "table"
    json = "json"
    yaml = "yaml"
    csv = "csv"


class Column(NamedTuple):
    """A column of tables and CSV files: a title, and the cell of an item."""

    title: str
    cell: Callable[[Any], Any]


def field(title: str, name: str) -> Column:
    """A column that shows a field as it is.

    >>> field("host", "host").cell({"host": "h1"})
    'h1'
    """
    return Column(title, lambda item: item.get(name))


def short_id(item: Any) -> str:
    """Enough of an id to name it at the command line."""
    return str(item["id"])[:8]


def age(moment: str | None, now: datetime | None = None) -> str:
    """How long ago (or ahead) a time is, in its largest unit.

    >>> from datetime import datetime, UTC
    >>> now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> age("2026-01-01T11:15:00Z", now), age("2026-01-03T12:00:00Z", now), age(None)
    ('45 min', 'in 2 d', '')
    """
    if moment is None:
        return ""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(moment)).total_seconds()
    return duration(seconds) if seconds >= 0 else f"in {duration(-seconds)}"


def duration(seconds: float | None) -> str:
    """A duration in its largest unit.

    >>> duration(59), duration(3600), duration(None)
    ('59 s', '1 h', '')
    """
    if seconds is None:
        return ""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def percent(share: float | None) -> str:
    """A share as a percentage.

    >>> percent(0.224), percent(None)
    ('22%', '')
    """
    return "" if share is None else f"{share:.0%}"


def rendered(form: Format, items: Any, columns: Sequence[Column], *, width: int | None = None, one_line: bool = False) -> str:
    """Render a list of items, or one item, in a format. `one_line` is for JSON that follows JSON, as `--watch` prints it."""
    if form is Format.json:
        return json.dumps(items, ensure_ascii=False, indent=None if one_line else 2)
    if form is Format.yaml:
        return _yaml(items).rstrip()
    rows = items if isinstance(items, list) else [items]
    if form is Format.csv:
        return _csv(rows, columns)
    return _table(rows, columns, width) if isinstance(items, list) else _fields(items, columns)


def terminal_width(is_terminal: bool) -> int | None:
    """Columns of the terminal; None where no terminal cuts lines."""
    return shutil.get_terminal_size().columns if is_terminal else None


def _yaml(items: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(items, sort_keys=False, allow_unicode=True, width=120)
    return text


def _csv(rows: Sequence[Any], columns: Sequence[Column]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.title for column in columns])
    writer.writerows([_harmless(column.cell(row)) for column in columns] for row in rows)
    return file.getvalue().rstrip("\n")


def _harmless(value: Any) -> str:
    """A cell; text that a spreadsheet would run as a formula is marked as text."""
    text = _text(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@") else text


def _table(rows: Sequence[Any], columns: Sequence[Column], width: int | None) -> str:
    if not rows:
        return "none"
    cells = [[column.title.upper() for column in columns], *([_text(column.cell(row)) for column in columns] for row in rows)]
    widths = [max(_width(line[place]) for line in cells) for place in range(len(columns))]
    return "\n".join(_cut(_line(line, widths), width) for line in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (size - _width(cell)) for cell, size in zip(cells, widths, strict=True)).rstrip()


def _fields(item: Any, columns: Sequence[Column]) -> str:
    size = max(len(column.title) for column in columns)
    lines = []
    for column in columns:
        first, *more = _lines(column.cell(item))
        lines += [f"{column.title.capitalize():{size}}  {first}".rstrip(), *(f"{'':{size}}  {line}" for line in more)]
    return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    text = "" if value is None else str(value) if not isinstance(value, list | bool) else _text(value)
    return [_text(line) for line in text.splitlines()] or [""]


def _text(value: Any) -> str:
    """A cell's text without characters that would move a terminal's cursor.

    >>> _text(["S1", "S5"]), _text(True), _text(None), _text("a\\x1b[2Jb")
    ('S1 S5', 'yes', '', 'a [2Jb')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(str(item) for item in value)
    return "".join(" " if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") else character for character in str(value))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _cut(line: str, width: int | None) -> str:
    return line if width is None or _width(line) <= width else line[: width - 1] + "…"
