"""``make demo-reset``: deletes the demo's state, and nothing else."""

from pathlib import Path
from shutil import rmtree

from wallwatch_local.demo import demo_dir, exclusive


def reset(folder: Path | None = None) -> bool:
    """Delete the demo's folder; returns whether it existed.

    Raises
    ------
    LocalStackError
        When a demo is running in it.
    """
    folder = folder or demo_dir()
    if not folder.exists():
        return False
    with exclusive(folder):
        rmtree(folder)
    return True
