"""``make demo-reset``: removes the demo's state, and only that."""

from pathlib import Path
from shutil import rmtree

from wallwatch_local.demo import demo_dir, only_one


def reset(folder: Path | None = None) -> bool:
    """Remove the demo's folder; whether there was one.

    Raises
    ------
    LocalStackError
        When a demo is running in it.
    """
    folder = folder or demo_dir()
    if not folder.exists():
        return False
    with only_one(folder):
        rmtree(folder)
    return True
