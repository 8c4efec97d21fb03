"""Values of others in sentences: never long, and never an error of their own."""

from __future__ import annotations


def shown(value: object, most: int) -> str:
    """The first characters of a value's text. JSON may be nested more deeply than Python writes it.

    >>> shown([1, "two"], 80), shown("a long text", 6)
    ("[1, 'two']", 'a long')
    """
    try:
        return str(value)[:most]
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
