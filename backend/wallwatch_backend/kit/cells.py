"""Cells of CSV files."""

from typing import Any


def cell(value: Any) -> str:
    """A value as the text of a cell; text that a spreadsheet would run as a formula is marked as text, a negative number is not.

    >>> cell(["S1", "S5"]), cell(None), cell(True), cell("=1+1")
    ('S1 S5', '', 'true', "'=1+1")
    >>> cell(-4.8), cell("-4.8")
    ('-4.8', "'-4.8")
    >>> cell([{"system": "jira", "key": "OPS-1", "url": None}])
    'jira:OPS-1'
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        value = " ".join(f"{item['system']}:{item['key']}" if isinstance(item, dict) else str(item) for item in value)
    text = str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
