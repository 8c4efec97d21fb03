"""Falls of the bandwidth within the hour: what is learnt of them, and from what."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.features import FeatureMaker
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import Floats, column
from wallwatch.domain.forecast.window import History


def with_chains(history: History) -> History:
    """Lookups per packet of evenly used masks, and none at the receivers."""
    history.values[:, :, column("q_l")] = history.values[:, :, column("egress_masks")] / 2
    history.values[:, :, column("q_r")] = 0.0
    return history


def rows(history: History, index: int) -> dict[str, Floats]:
    window = history.at(index)
    return dict(zip(decline_model.NAMES, decline_model.rows_of(window, FeatureMaker(window)).T.astype(np.float64), strict=True))


def test_growth_of_the_chain_is_a_loss_of_bandwidth_in_shares(make_history: Callable[..., History]) -> None:
    grows, still = 5 + np.arange(120.0) * 0.3, np.full(120, 20.0)
    found = rows(with_chains(make_history(np.stack([grows, still]))), 90)
    assert found["fallen_30m"][0] > 0.05
    assert found["fallen_30m"][1] == pytest.approx(0.0, abs=1e-6)
    # Six more lookups cost about what the bandwidth has declined by.
    assert found["q_l_cost_30m"][0] == pytest.approx(found["fallen_30m"][0], rel=0.25)
    assert found["age_min"][0] == 61


def test_the_cost_of_the_lookups_is_their_number_times_what_one_more_costs(make_history: Callable[..., History]) -> None:
    found = rows(with_chains(make_history(np.full((1, 120), 40.0))), 90)
    more = rows(with_chains(make_history(np.full((1, 120), 40.2))), 90)
    lookups, one_more = 20.0, 0.1
    assert found["q_l_cost"][0] == pytest.approx(lookups * found["q_l_sensitivity"][0])
    share = found["bandwidth_share"][0]
    assert found["q_l_sensitivity"][0] == pytest.approx((share - more["bandwidth_share"][0]) / share / one_more, rel=0.25)
    assert found["q_r_cost"][0] == 0.0


def test_the_decline_of_a_day_ago_is_a_feature_and_one_before_the_history_is_not(make_history: Callable[..., History]) -> None:
    masks = np.full((1, 1600), 8.0)
    masks[0, 120:200] = 60.0
    found = rows(with_chains(make_history(masks)), 1440 + 90)
    assert found["lowest_after_1440m"][0] < 0.8
    assert np.isnan(found["lowest_after_10080m"][0])


def test_a_fall_counts_when_it_comes_within_the_hour_and_an_hour_that_is_not_over_teaches_nothing(
    make_history: Callable[..., History],
) -> None:
    masks = np.full((2, 200), 8.0)
    masks[0, 100:] = 30.0
    history = with_chains(make_history(masks))
    bandwidth = decline_model.expected(history)
    assert [decline_model.labels_at(bandwidth, index)[0] for index in (30, 50, 98, 120)] == [0.0, 1.0, 1.0, 0.0]
    assert np.isnan(decline_model.labels_at(bandwidth, 150)).all()
    examples = decline_model.decline_examples_of(history, 60, 10)
    assert examples.rows.shape == (2 * 8, len(decline_model.NAMES))
    assert examples.labels.sum() == 5  # the median of three minutes has not seen the fall in the minute in which it comes


def test_chances_are_learnt_and_an_rnic_that_starts_cold_keeps_those_of_its_quantiles(
    make_history: Callable[..., History], ramps: Callable[[int, int], Floats]
) -> None:
    lots = [decline_model.decline_examples_of(with_chains(make_history(ramps(24, seed))), 20, 3) for seed in (1, 2)]
    learnt = decline_model.fit(lots, rounds=100)
    assert learnt is not None
    history = with_chains(make_history(ramps(24, 3)))
    unseen = decline_model.decline_examples_of(history, 60, 5)
    chance = Forecaster({}, {}, decline_booster=learnt).decline_chances(unseen.rows)
    assert chance[unseen.labels == 1.0].mean() > chance[unseen.labels == 0.0].mean() + 0.3
    history.values[1, :95] = np.nan
    made = predict(history.at(99), Forecaster({}, {}, decline_booster=learnt))
    assert made.decline.learnt.tolist() == [True, False] + [True] * 22
    assert np.isfinite(made.decline.chance).all()


def test_too_few_examples_or_a_fleet_that_never_fell_teach_nothing(make_history: Callable[..., History]) -> None:
    still = decline_model.decline_examples_of(with_chains(make_history(np.full((20, 200), 8.0))), 60, 1)
    assert len(still) > decline_model.FEWEST
    assert decline_model.fit([still]) is None
    assert decline_model.fit([decline_model.DeclineExamples(still.rows[:10], np.array([0.0, 1.0] * 5))]) is None
