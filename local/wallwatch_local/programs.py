"""A program for the supervisor: how to start and stop it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """One supervised process.

    Parameters
    ----------
    name
        Also the name of its log.
    group
        Programs of a group start and stop together; groups stop one after another, in the reverse order of their first program.
    stop_signal
        The signal that stops it cleanly, such as ``TERM``.
    stop_wait_s
        Seconds after which it is killed.
    """

    name: str
    group: str
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"
    stop_wait_s: int = 10
