"""Folders of the local stack's tools and state."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FAILURES_VARIABLE = "WALLWATCH_FAILURES"  # names the file to which the pytest plugin writes a line for each failed test


def local_dir() -> Path:
    """Folder of everything that is created on this machine and not tracked by git."""
    return REPOSITORY / ".local"


def tools_dir() -> Path:
    """Folder of installed tools; ``WALLWATCH_TOOLS_DIR`` lets several clones share one."""
    return Path(os.environ.get("WALLWATCH_TOOLS_DIR") or local_dir() / "tools")


def binary(name: str) -> Path:
    """Path of one of our built programs, such as ``wallwatch-agent``."""
    return tools_dir() / "bin" / name
