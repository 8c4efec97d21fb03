"""Cards and VFs are what was asked for."""

from dataclasses import replace

import numpy as np
import pytest
from tests.isolation_series.card import Card, draw_card
from tests.isolation_series.tenants import draw_tenants


def card_with(**changed: float) -> Card:
    """A card with some constants chosen."""
    return replace(draw_card(np.random.default_rng(1)), **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(30))
def test_minima_fit_the_port_and_usual_traffic_the_envelopes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    card = draw_card(rng)
    tenants = draw_tenants(rng, card, 8, 0.4, heavy=seed % 2 == 0)
    assert sum(one.min_bps for one in tenants) <= card.nic_bps
    for one in tenants:
        assert 0 < one.min_bps < one.max_bps <= card.nic_bps
        assert max(one.rx_bps, one.tx_bps) <= 0.6 * one.max_bps + 1
        assert one.base_p99_us < 0.5 * one.slo_p99_us
        assert one.base_p50_us < one.slo_p50_us


def test_an_engine_carries_large_packets_at_the_rate_that_was_asked_for() -> None:
    card = draw_card(np.random.default_rng(2), (0.5, 0.5))
    assert 1500 * 8 / card.cost(1500.0) == pytest.approx(0.5 * card.nic_bps)
    assert card.cost(card.crossover_bytes) == pytest.approx(2 * card.packet_s)
