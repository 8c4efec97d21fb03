"""What a matcher's operator means, as Alertmanager has them: `rack="r1"`, `host=~"gpu.*"`.

Regular expressions come from people, so they run on RE2: its time is linear in the text, whatever the expression, and its
syntax is the one that Prometheus and Alertmanager have. They match the whole value.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Literal

import re2

Operator = Literal["=", "!=", "=~", "!~"]

BY_EXPRESSION = ("=~", "!~")
_MAX_EXPRESSION_BYTES = 1 << 20  # of RE2's own memory: "(a{1000}){1000}" is refused rather than built
_ABSENT = ("",)


@lru_cache(maxsize=1024)
def _expression(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors, options.max_mem = False, _MAX_EXPRESSION_BYTES
    return re2.compile(pattern, options)


def check_expression(pattern: str) -> None:
    """Raise `ValueError` with RE2's reason when a regular expression cannot be used.

    >>> check_expression("gpu.*")
    """
    try:
        _expression(pattern)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(f"not a valid RE2 regular expression: {reason}") from error


def holds(op: Operator, value: str, given: Collection[str]) -> bool:
    """Return whether any of a label's values matches; != and !~ are the opposites of = and =~. No value is the same as the value "".

    >>> holds("=", "host02", ("host01", "host02")), holds("!=", "host02", ("host01", "host02"))
    (True, False)
    >>> holds("=~", "gpu.*", ("gpu7",)), holds("=", "", ())
    (True, True)
    """
    values = given or _ABSENT
    if op in ("=", "!="):
        return (value in values) == (op == "=")
    expression = _expression(value)
    return any(expression.fullmatch(each) is not None for each in values) == (op == "=~")
