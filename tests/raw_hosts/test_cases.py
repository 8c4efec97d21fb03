"""A small selection of the second world's hosts, played through the real inputs and the job's own stage; `python -m tests.raw_hosts` plays
all.
"""

import pytest
from tests.raw_hosts.cases import all_cases
from tests.raw_hosts.run import run_case
from tests.raw_hosts.tables import line

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    "name",
    [case.name for case in all_cases() if case.quick],
)
def test_a_host_is_judged_rightly(name: str) -> None:
    verdict = run_case(name)
    assert verdict.outcome == "right", line(verdict, with_findings=True)
    assert not verdict.refused, "the pipeline refuses what the collector sends"
