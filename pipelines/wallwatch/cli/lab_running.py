"""While a campaign runs in a terminal: progress on stderr, and signals that end it after the running test."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from wallwatch.lab.progress import Progress

EVERY_S = {True: 0.2, False: 10.0}
"""Seconds between two lines of progress: in a terminal, where one replaces the other, and in a log."""
UNITS_S = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "": 1.0}


def seconds_of(text: str | None) -> float | None:
    """A duration: `4h`, `1h30m`, `90s`, `90`.

    Raises
    ------
    typer.BadParameter
        It is none, or not above zero.
    """
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(d|h|min|m|s|)", text)
    if not re.fullmatch(r"\s*(?:\d+(?:\.\d+)?\s*(?:d|h|min|m|s|)\s*)+", text) or not any(float(number) for number, _ in parts):
        raise typer.BadParameter(f"{text!r} is no duration: write 4h, 1h30m, 90s or seconds")
    return sum(float(number) * UNITS_S[unit] for number, unit in parts)


@dataclass
class ProgressLines:
    """Prints progress on stderr, not more often than anybody reads."""

    is_terminal: bool = field(default_factory=sys.stderr.isatty)
    _next_s: float = 0.0
    _is_open: bool = False

    def show(self, progress: Progress) -> None:
        """Called after each operation."""
        now = time.monotonic()
        if now < self._next_s:
            return
        self._next_s = now + EVERY_S[self.is_terminal]
        if self.is_terminal:
            sys.stderr.write(f"\r\x1b[K{progress_text(progress)}")
            sys.stderr.flush()
            self._is_open = True
        else:
            typer.echo(progress_text(progress), err=True)

    def say(self, line: str) -> None:
        """A line of its own."""
        self.close()
        typer.echo(line, err=True)

    def close(self) -> None:
        """End the line that is replaced."""
        if self._is_open:
            sys.stderr.write("\n")
            self._is_open = False


def progress_text(progress: Progress) -> str:
    """One line: what was done, how long it took, what is left as a range."""
    from wallwatch.cli.lab_text import duration

    texts = [f"{progress.phase}: {progress.operations} tests and resets in {duration(progress.seconds)}"]
    if progress.from_journal:
        texts.append(f"{progress.from_journal} from the journal")
    if progress.retries:
        texts.append(f"{progress.retries} retries")
    if progress.remaining is not None:
        low, high = progress.remaining
        each = progress.seconds_per_operation
        span = f"about {low} to {high} left" if high > low else f"at most {high} left"
        texts.append(f"{span} ({duration(low * each)} to {duration(high * each)}), more if the device has several causes")
    if progress.budget is not None:
        texts.append(f"budget {progress.budget}")
    return "; ".join(texts)


@dataclass
class StopRequest:
    """Set by the first signal; the second one interrupts at once."""

    number: int | None = None

    def reason(self) -> str | None:
        """Why to stop, None to go on."""
        return None if self.number is None else f"interrupted by {signal.Signals(self.number).name}"

    @property
    def exit_code(self) -> int | None:
        """As shells have it: 128 and the number of the signal."""
        return None if self.number is None else 128 + self.number


@contextlib.contextmanager
def stop_signals(lines: ProgressLines) -> Iterator[StopRequest]:
    """SIGINT and SIGTERM end the campaign after the running test; the second one raises `KeyboardInterrupt`."""
    request = StopRequest()

    def handle(number: int, _: FrameType | None) -> None:
        if request.number is not None:
            raise KeyboardInterrupt
        request.number = number
        lines.say("stopping after the running test; press Ctrl-C again to stop at once")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
