"""Simple baselines for comparison: persistence, linear trend, and an SVM on flow features as in the paper's evaluation (section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from tests.forecast.scoring.truth import Measured

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.forecast import physical_model
from wallwatch.domain.forecast.features import FeatureMaker
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats, column, targets
from wallwatch.domain.forecast.window import History

_FLOW_FEATURES = ("offloaded_flows", "flow_insertions", "encap_contexts")
MOST_EXAMPLES = 3000
"""An SVM takes time with the square of its examples."""


def persistence(history: History, index: int) -> tuple[Floats, Floats]:
    """As now, by the physical model."""
    return _by_trend(history, index, 0.0)


def linear(history: History, index: int) -> tuple[Floats, Floats]:
    """Lookups per packet continue the linear trend of the last ten minutes."""
    return _by_trend(history, index, 1.0)


def _by_trend(history: History, index: int, share: float) -> tuple[Floats, Floats]:
    window = history.at(index)
    maker = FeatureMaker(window)
    now = np.stack([maker.newest(k) for k in range(len(targets()))], axis=1)
    rates = np.stack([maker.of(k).rate for k in range(len(targets()))], axis=1)
    ahead = np.array((0, *HORIZONS_MIN), dtype=np.float64)
    values = np.maximum(now[:, :, None] + share * rates[:, :, None] * ahead, 0.0)
    found = physical_model.performance(window.models, now, values[:, :, :, None], window.spread, window.link_gbps, window.sent_gbps)
    return found.bandwidth[:, :, 0], found.latency[:, :, 0]


class SupportVectors:
    """Bandwidth and latency, as shares of the model's best, from flow features alone; what is ahead is what it says of now."""

    def __init__(self) -> None:
        self._bandwidth: Pipeline = make_pipeline(StandardScaler(), SVR(C=10.0, epsilon=0.01))
        self._latency: Pipeline = make_pipeline(StandardScaler(), SVR(C=10.0, epsilon=0.01))

    def fit(self, histories: Sequence[History], measured: Sequence[Measured]) -> SupportVectors:
        """Learn from what the mechanism could do, which a real fleet would have to measure."""
        rows, bandwidth, latency = [], [], []
        for history, truth in zip(histories, measured, strict=True):
            best, least = _at_the_head(history)
            for index in range(history.minutes):
                rows.append(_flow_features(history, index))
                bandwidth.append(truth.bandwidth_gbps[:, index] / best)
                latency.append(truth.latency_us[:, index] / least)
        x, y, z = np.concatenate(rows), np.concatenate(bandwidth), np.concatenate(latency)
        known = np.flatnonzero(~np.isnan(y) & ~np.isnan(x).any(axis=1))
        chosen = np.random.default_rng(1).permutation(known)[:MOST_EXAMPLES]
        self._bandwidth.fit(x[chosen], y[chosen])
        self._latency.fit(x[chosen], z[chosen])
        return self

    def __call__(self, history: History, index: int) -> tuple[Floats, Floats]:
        x = np.nan_to_num(_flow_features(history, index))
        best, least = _at_the_head(history)
        steps = (1, 1 + len(HORIZONS_MIN))
        return np.tile((self._bandwidth.predict(x) * best)[:, None], steps), np.tile((self._latency.predict(x) * least)[:, None], steps)


def _flow_features(history: History, index: int) -> Floats:
    """Flows, insertions, contexts and containers, with the RNIC model as numbers of its own."""
    flows = history.values[:, index][:, [column(name) for name in _FLOW_FEATURES]]
    running = history.containers[:, : index + 1].sum(axis=1)
    models = np.array([[float(model == name) for name in profiles()] for model in history.models])
    return np.concatenate([np.log1p(np.maximum(flows, 0.0)), running[:, None], models], axis=1)


def _at_the_head(history: History) -> tuple[Floats, Floats]:
    parameters = physical_model.Parameters.of(history.models)
    head = np.zeros(len(history.models))
    return physical_model.bandwidth_gbps(parameters, head, head), physical_model.latency_us(parameters, head, head)
