"""Real data that others measured is not in the repository; these tests read it from where WALLWATCH_EXTERNAL_DATA says."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def external_data() -> Path:
    """Folder of the data, or a skip that says what to set. In CI nothing is skipped because somebody forgot to say where the data is."""
    place = os.environ.get("WALLWATCH_EXTERNAL_DATA", "")
    if not place and os.environ.get("CI"):
        pytest.fail("WALLWATCH_EXTERNAL_DATA is not set, and this is CI: it names the folder with captures/, ..., or is `none`")
    if place in ("", "none"):
        pytest.skip("WALLWATCH_EXTERNAL_DATA does not name the folder with captures/, scalacn-perftest/, ...")
    folder = Path(place).resolve()
    assert (folder / "captures").is_dir(), f"WALLWATCH_EXTERNAL_DATA={place} has no folder captures/"
    return folder
