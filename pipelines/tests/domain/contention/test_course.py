"""A card over time: losses as an SLA counts them, traffic that goes on as it does, and the function closest to its SLA."""

from dataclasses import replace
from math import exp

import pytest
from pipelines.tests.domain.contention.examples import occupant

from wallwatch.domain.contention.card import Card, Occupant, Traffic
from wallwatch.domain.contention.course import AHEAD_STEP_MIN, changes, coming, moments, nearest
from wallwatch.domain.contention.watch import Limits, Measured

LIMITS = Limits(deviation=0.1, horizon_min=60, trend_min=15, trend_errors=4)


def measured(one: Occupant, throughput: float | None = None, saturated: bool | None = None, history: tuple[Traffic, ...] = ()) -> Measured:
    return Measured(one, throughput, saturated, 0.2, history)


def growing(now: Traffic, per_minute: float) -> tuple[Traffic, ...]:
    return tuple(replace(now, mtbr=max(now.mtbr - per_minute * ago, 0.0)) for ago in range(20, -1, -1))


def test_a_loss_is_measured_where_less_is_processed_than_arrives_and_predicted_elsewhere() -> None:
    pair = [occupant("a", "ids", mtbr=600), occupant("b", "ids", mtbr=600)]
    outlook = Card(pair).outlook(0)
    slow = 0.9 * outlook.throughput
    busy, idle = moments([measured(pair[0], slow, True), measured(pair[1], slow, False)])
    assert busy is not None
    assert idle is not None
    assert busy.loss == pytest.approx(1 - slow / outlook.solo)
    assert busy.error == pytest.approx(-0.1)
    assert (idle.loss, idle.error) == (idle.predicted_loss, None), "what keeps up does not test its model"


def test_a_function_without_a_model_has_no_moment_and_no_future() -> None:
    cards = [measured(occupant("a", "ids", mtbr=300, model=None)), measured(occupant("b", "ids", mtbr=300))]
    first, second = moments(cards)
    assert first is None
    assert second is not None
    assert coming(cards, LIMITS) == [[], []], "no traffic has a trend"


def test_traffic_that_goes_on_is_predicted_until_the_horizon() -> None:
    pair = [occupant("a", "ids", mtbr=300), occupant("b", "ids", mtbr=300)]
    functions = [measured(pair[0], history=growing(pair[0].traffic, 10.0)), measured(pair[1])]
    assert changes(functions, LIMITS) == [(0.0, 0.0, pytest.approx(10.0)), (0.0, 0.0, 0.0)]
    own, neighbour = coming(functions, LIMITS)
    assert [point.in_min for point in own] == list(range(AHEAD_STEP_MIN, 61, AHEAD_STEP_MIN))
    assert own[-1].traffic.mtbr == pytest.approx(300 + 600)
    assert neighbour[-1].loss > neighbour[0].loss, "more matches of one take the accelerator from the other"


def test_flows_that_grow_go_on_by_a_factor() -> None:
    one = occupant("a", "nat", flows=8000)
    history = tuple(replace(one.traffic, flows=8000 * exp(-0.01 * ago)) for ago in range(20, -1, -1))
    (points,) = coming([measured(one, history=history)], LIMITS)
    assert points[2].traffic.flows == pytest.approx(8000 * exp(0.3))


def test_the_nearest_is_the_function_with_least_headroom_and_agrees_with_a_card_predicted_alone() -> None:
    pair = [occupant("a", "ids", mtbr=900), occupant("b", "nat")]
    cards = [[measured(each) for each in pair], [measured(occupant("c", "nat"))], [Measured(pair[0], None, None, None)], []]
    both, alone, promised_nothing, empty = nearest(cards)
    drops = {each.name: Card(pair).outlook(at).drop for at, each in enumerate(pair)}
    worst = max(drops, key=lambda name: drops[name])
    assert both is not None
    assert alone is not None
    assert (both.name, both.loss) == (worst, pytest.approx(drops[worst]))
    assert (alone.name, alone.headroom) == ("c", pytest.approx(1.0))
    assert promised_nothing is empty is None


def test_a_measured_loss_counts_for_the_nearest() -> None:
    one = occupant("a", "nat")
    solo = Card([one]).outlook(0).solo
    (found,) = nearest([[measured(one, 0.7 * solo, True)]])
    assert found is not None
    assert (found.loss, found.headroom) == (pytest.approx(0.3), pytest.approx(-0.5))
