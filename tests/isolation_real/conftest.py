"""The lab, built once, with its programs."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.isolation_real.lab import CommandFailed, Lab, new_lab
from tests.isolation_real.stage import Stage, on_stage


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The lab at work. Without network namespaces the tests are skipped, but not in CI, where they have to be possible."""
    with ExitStack() as stack:
        try:
            lab = _build(stack)
        except (CommandFailed, FileNotFoundError) as error:
            if os.environ.get("CI"):
                pytest.fail(f"{error}; in CI these tests must not be skipped")
            pytest.skip(str(error))
        made = stack.enter_context(on_stage(lab, tmp_path_factory.mktemp("isolation")))
        made.find_storm_rate()
        yield made


def _build(stack: ExitStack) -> Lab:
    lab = new_lab()
    stack.callback(lab.remove)
    lab.build()
    return lab
