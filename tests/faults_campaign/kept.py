"""Copies what a campaign leaves behind: plain files only.

A simulated host's folder has links into the machine's own `/sys`, sockets and pipes; whoever follows those copies the machine, or waits
for ever at a pipe that nobody writes.
"""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

LARGEST_BYTES = 256 * 1_048_576
"""A file that is larger is no log."""


def copy_tree(source: Path, target: Path, without: Collection[str] = ()) -> int:
    """Copy plain files, leaving out folders of these names; returns how many. What vanishes or cannot be read is left out, too."""
    copied = 0
    for folder, names, files in os.walk(source, followlinks=False):
        names[:] = [name for name in names if name not in without]
        place = target / Path(folder).relative_to(source)
        for name in files:
            copied += _copied(Path(folder) / name, place / name)
    return copied


def _copied(file: Path, target: Path) -> bool:
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > LARGEST_BYTES:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target, follow_symlinks=False)
    except OSError:
        return False
    return True
