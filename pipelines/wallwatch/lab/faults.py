"""What an adaptor can do wrong: one exception with a kind that is counted and a text that says what was received."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "died",
    "hung",
    "truncated line",
    "no JSON",
    "wrong id",
    "answered twice",
    "invalid answer",
    "number that is not finite",
    "unknown metric",
    "unknown symptom",
    "description changed",
    "description invalid",
    "cannot be started",
]

MOST_SHOWN = 160
"""Characters of a received line that an error shows."""

RESTART_AFTER: frozenset[Kind] = frozenset({"died", "hung", "truncated line", "no JSON", "wrong id", "answered twice"})
"""After these it is unknown which answer comes next, so the adaptor is restarted; after the others the order of lines is intact."""


class DeviceFault(Exception):
    """The adaptor broke the protocol `dut/1`, died or hung.

    Parameters
    ----------
    kind
        What is counted.
    text
        What was wrong and what was received, shortened: one line.
    """

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class DeviceGone(Exception):
    """The device cannot be used any more; the campaign ends and can be resumed. The text says why and what to do."""


class BadDevice(Exception):
    """The command cannot be started, or its description does not satisfy `dut/1`. The text says what to correct."""


def shown(received: bytes | str | object) -> str:
    """What was received, in quotes, escaped and shortened to one line.

    >>> shown(b"x" * 500)[-30:]
    "xxxxxxxxx'... (500 characters)"
    """
    text = received.decode("utf-8", errors="replace") if isinstance(received, bytes) else str(received)
    if len(text) <= MOST_SHOWN:
        return repr(text)
    return f"{text[:MOST_SHOWN]!r}... ({len(text)} characters)"
