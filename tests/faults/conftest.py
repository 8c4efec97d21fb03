"""One small stack for the tests that need all of it: 2 hosts with 2 RNICs each, nothing wrong with them."""

from collections.abc import Iterator

import pytest

from wallwatch_local import hosts
from wallwatch_testing import stack


@pytest.fixture(scope="module")
def healthy_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stack.Stack]:
    if not stack.is_root():
        pytest.skip("the stack opens its own mounts: run as root")
    # A command that nobody answers is given up soon, or each refused one would take a minute and a half.
    settings = {"WALLWATCH_COMMAND_TTL_S": "8", "WALLWATCH_COMMAND_GRACE_S": "2"}
    with stack.start(tmp_path_factory.mktemp("stack"), hosts.scenario_file("healthy"), settings) as running:
        yield running
