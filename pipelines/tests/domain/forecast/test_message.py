"""Forecasts as messages."""

from collections.abc import Callable

import numpy as np
import orjson

from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.message import messages
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.published import PublishedForecast
from wallwatch.domain.forecast.targets import limits
from wallwatch.domain.forecast.window import History

HIGH = Confidence.HIGH


def test_unknown_is_null_and_a_wall_beyond_the_hour_has_no_time(make_history: Callable[..., History]) -> None:
    grows, still = np.arange(60.0) * 0.6 + 5, np.full(60, 20.0)
    history = make_history(np.stack([grows, still]))
    made = predict(history.at(59), None)
    names = [("host00", "0000:00:00.0", "r1"), ("host00", "0000:01:00.0", "r1")]
    first, second = messages(made, names, history.models, limits(history.models), "abc", HIGH, np.array([True, False]), np.array([57, -1]))
    assert orjson.loads(orjson.dumps(first)) == first
    for each in (first, second):
        published = PublishedForecast.model_validate_json(orjson.dumps(each))
        assert set(each) == set(published.model_dump()), "readers are promised every field"
    assert first["forecaster"] == ""
    assert first["cold_start"]
    assert first["confidence"] == "low"
    assert first["walls"]["egress_masks"]["chance"] > 0.5 > second["walls"]["egress_masks"]["chance"]
    assert first["policy_violated"]
    assert first["walls"]["egress_masks"]["likely_in_s"] > first["walls"]["egress_masks"]["earliest_in_s"] > 0
    assert first["decline"]["share"] > 0.05
    assert first["decline"]["chance"] > 0.5
    assert first["decline"]["in_s"] > 0
    assert first["decline"]["since"] == "1970-01-01T00:58:00Z"
    assert first["q_r_basis"] == "own_ingress"
    far = second["walls"]["flow_insertions"]
    assert [far[name] for name in ("earliest_in_s", "likely_in_s", "latest_in_s")] == [None, None, None]
    assert second["walls"]["egress_masks"]["likely_in_s"] is None
    assert second["decline"]["in_s"] is None
    assert second["decline"]["since"] is None
    assert "q_r" not in first["targets"]
    assert [len(one) for one in first["bandwidth_gbps"]["ahead"]] == [3] * 5


def test_a_decline_is_reported_without_a_time_where_no_horizon_has_it(make_history: Callable[..., History]) -> None:
    history = make_history(np.full((1, 60), 20.0))
    made = predict(history.at(59), None)
    (message,) = messages(
        made, [("host00", "0000:00:00.0", "r1")], history.models, limits(history.models), "abc", HIGH, np.array([False]), np.array([57])
    )
    assert message["decline"]["in_s"] is None
    assert message["decline"]["since"] == "1970-01-01T00:58:00Z"


def test_an_rnic_without_samples_has_no_message(make_history: Callable[..., History]) -> None:
    history = make_history(np.full((1, 60), 20.0))
    history.values[:] = np.nan
    made = predict(history.at(59), None)
    assert list(messages(made, [("h", "p", "")], history.models, limits(history.models), "", HIGH, np.array([False]), np.array([-1]))) == []
