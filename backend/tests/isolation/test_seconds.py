"""Sums of seconds in answers."""

import pytest

from wallwatch_backend.isolation.breakage.schemas import Pair


@pytest.mark.parametrize(("summed", "shown"), [(90.72200000000002, 90.7), (0.1 + 0.2, 0.3), (19.96, 20.0), (0.0, 0.0)])
def test_answers_have_tenths_of_seconds_without_rounding_errors(summed: float, shown: float) -> None:
    pair = Pair(aggressor_vf=3, victim_vf=0, seconds=summed)
    assert pair.seconds == summed  # what is computed from it stays exact
    assert pair.model_dump(mode="json")["seconds"] == shown


def test_the_schema_of_seconds_is_a_plain_number() -> None:
    assert Pair.model_json_schema(mode="serialization")["properties"]["seconds"]["type"] == "number"
