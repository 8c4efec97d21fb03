"""Real data that others measured is not in the repository; these tests read it from where WALLWATCH_EXTERNAL_DATA says."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def external_data() -> Path:
    """Folder of the data, or a skip that says what to set."""
    place = os.environ.get("WALLWATCH_EXTERNAL_DATA")
    if not place:
        pytest.skip("WALLWATCH_EXTERNAL_DATA is not set: it names the folder with captures/, scalacn-perftest/, ...")
    folder = Path(place).resolve()
    assert (folder / "captures").is_dir(), f"WALLWATCH_EXTERNAL_DATA={place} has no folder captures/"
    return folder
