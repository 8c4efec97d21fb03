"""A card gives at least what it sends."""

import numpy as np
import pytest

from wallwatch.domain.forecast.physical_model import Performance, performance
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, column, targets

LINK = 252.0


def found(q_l: float, ahead: float, sent: float, link: float = LINK) -> Performance:
    now = np.zeros((1, len(targets())))
    now[0, column("q_l")] = q_l
    later = np.zeros((1, len(targets()), len(HORIZONS_MIN), len(QUANTILES)))
    later[0, column("q_l")] = ahead
    return performance(["CX-6"], now, later, np.zeros((1, 2)), np.array([link]), np.array([sent]))


def test_what_is_sent_lifts_the_bandwidth_of_now_and_what_is_ahead_alike() -> None:
    plain, lifted = found(20.0, 30.0, np.nan), found(20.0, 30.0, 130.0)
    assert plain.bandwidth_now[0] < 130.0
    assert lifted.bandwidth_now[0] == pytest.approx(130.0)
    np.testing.assert_allclose(lifted.bandwidth / lifted.bandwidth_now[0], plain.bandwidth / plain.bandwidth_now[0])


def test_traffic_that_wants_less_says_nothing() -> None:
    assert found(20.0, 30.0, 5.0).bandwidth_now == found(20.0, 30.0, np.nan).bandwidth_now


def test_nothing_ahead_is_above_the_head_of_both_chains_or_the_link() -> None:
    head = found(0.0, 0.0, np.nan).bandwidth_now[0]
    assert found(20.0, 0.0, 150.0).bandwidth.max() == pytest.approx(head)
    assert found(20.0, 0.0, 100.0, link=60.0).bandwidth.max() == 60.0
