"""Training on a cluster, a local one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import Floats, column, targets
from wallwatch.domain.forecast.training_examples import examples_of
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.registry.folder import Registry
from wallwatch.forecasting.training import distributed
from wallwatch.forecasting.training.train import TooLittle, train

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # of Dask's and LightGBM's own making
ROUNDS = 10


def some_rnics(history: History, rnics: slice) -> History:
    """Some of the RNICs; cut between hosts, so that those of one host stay together."""
    by_rnic = ("models", "names", "hosts", "values", "containers", "spread", "of_peers", "link_gbps")
    return replace(history, **{name: getattr(history, name)[rnics] for name in by_rnic})


def test_a_cluster_gives_a_whole_model_of_the_kind_that_one_machine_gives(
    make_history: Callable[..., History], ramps: Callable[[int, int], Floats], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decline_model, "ROUNDS", 150)
    history = make_history(ramps(32, 1))
    parts = [some_rnics(history, slice(i, i + 8)) for i in range(0, 32, 8)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        made, described = distributed.train(client, [dask.delayed(part) for part in parts], every_min=5, rounds=ROUNDS)
        with pytest.raises(TooLittle, match="2,000 are required"):
            distributed.train(client, [dask.delayed(parts[0])], every_min=60)
    alone, of_one = train(parts, every_min=5, rounds=ROUNDS)
    assert set(made.boosters) == set(alone.boosters) <= {t.name for t in targets()}
    assert described.keys() == of_one.keys()
    assert described["data"] == {**of_one["data"], "reach": described["data"]["reach"]}
    assert described["metrics"].keys() == of_one["metrics"].keys()
    assert (made.margins.keys(), made.cold.keys()) == (alone.margins.keys(), alone.cold.keys())
    assert made.reach.shape == alone.reach.shape
    assert made.cold_reach == pytest.approx(alone.cold_reach)

    unseen = make_history(ramps(12, 2))
    some = examples_of(unseen, every_min=10)[column("egress_masks")]
    quantiles = made.labels("egress_masks", some.rows)
    assert ((some.labels >= quantiles[:, 0]) & (some.labels <= quantiles[:, -1])).mean() > 0.7
    assert np.abs(some.labels - quantiles[:, 1]).mean() < np.abs(some.labels - np.mean(some.labels)).mean()
    falls = decline_model.decline_examples_of(unseen, 20, 10)
    chance = made.decline_chances(falls.rows)
    assert chance[falls.labels == 1.0].mean() > chance[falls.labels == 0.0].mean() + 0.2
    read = Registry(tmp_path).load(Registry(tmp_path).save(made, described))
    np.testing.assert_array_equal(predict(unseen.at(90), read).ahead, predict(unseen.at(90), made).ahead)
