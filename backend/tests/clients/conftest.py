"""Programs of others that talk to Wallwatch; `make clients` installs them and says where they are."""

import os
from pathlib import Path

import pytest

INSTALLED = "WALLWATCH_CLIENTS"
"""The folder with a Python environment for each of them. Without it there is nothing to try."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if INSTALLED not in os.environ:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="the programs of others are not installed: make clients"))


@pytest.fixture(scope="session")
def programs() -> Path:
    return Path(os.environ[INSTALLED])


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0, "webhook_retry_base_s": 0.2}
