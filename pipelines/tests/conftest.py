"""Histories of forecasts made by hand: loads that grow evenly, stand still, or repeat."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.forecast.targets import Floats, column, targets
from wallwatch.domain.forecast.window import History


@pytest.fixture(scope="session")
def make_history() -> Callable[..., History]:
    """A history from the egress masks of each RNIC, shape (rnics, minutes); lookups per packet assume evenly used masks."""

    def make(masks: Floats, model: str | None = "CX-6", first_minute: int = 1_000_000) -> History:
        n, minutes = masks.shape
        values = np.zeros((n, minutes, len(targets())))
        values[:, :, column("egress_masks")] = masks
        values[:, :, column("offloaded_flows")] = 20 * masks
        values[:, :, column("q_l")] = np.maximum(masks - 1, 0) / 2
        values[:, :, column("q_r")] = np.nan
        spread = np.stack([np.sqrt(np.maximum(masks**2 - 1, 0) / 12), np.zeros((n, minutes))], axis=2)
        of_peers = np.zeros((n, minutes), dtype=np.bool_)
        link = np.full((n, minutes), np.nan)
        names = [(f"host{i // 2:02d}", f"0000:{i % 2:02x}:00.0") for i in range(n)]
        return History([model] * n, names, np.arange(n) // 2, first_minute, values, np.zeros((n, minutes)), spread, of_peers, link)

    return make


@pytest.fixture(scope="session")
def ramps() -> Callable[[int, int], Floats]:
    """Masks of many RNICs that begin to grow at different minutes, at different rates, and stop; a half stands still."""

    def make(rnics: int, seed: int) -> Floats:
        rng = np.random.default_rng(seed)
        minutes = np.arange(180)
        found = []
        for i in range(rnics):
            base, start, rate = rng.integers(3, 8), rng.integers(10, 90), rng.uniform(0.1, 1.2) * (i % 2)
            found.append(base + np.minimum(np.maximum(minutes - start, 0) * rate, rng.integers(20, 80)) + rng.normal(0, 0.02, len(minutes)))
        return np.maximum(np.array(found), 0)

    return make
