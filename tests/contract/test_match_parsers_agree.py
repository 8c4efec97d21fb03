"""The collector and the planner read matches alike: flows of one mask for the one are flows of one mask for the other.

The collector's own test reads the same file (collectors/internal/ovs/dpctl/same_masks_test.go).
"""

import json

import pytest

from wallwatch.domain.masks.grammar import MatchParser
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch_local.paths import REPOSITORY

CASES = json.loads((REPOSITORY / "collectors/internal/ovs/dpctl/testdata/same_masks.json").read_bytes())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_matches_of_one_mask_are_those_that_the_collector_sees_too(case: dict[str, object]) -> None:
    parser = MatchParser(HeaderSpace())
    assert isinstance(case["matches"], list)
    masks = {parser.parse(match)[1] for match in case["matches"]}
    assert len(masks) == case["masks"]
    assert parser.space.unknown == {}, "a match that is not understood is a mask of its own"
