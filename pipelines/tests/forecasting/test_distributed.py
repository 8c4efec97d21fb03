"""Training on a cluster, a local one."""

from collections.abc import Callable

import dask
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

from wallwatch.domain.forecast.examples import examples_of
from wallwatch.domain.forecast.targets import Floats, column, targets
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting import distributed

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's and LightGBM's own making


def test_a_cluster_learns_what_one_machine_would(make_history: Callable[..., History], ramps: Callable[[int, int], Floats]) -> None:
    history = make_history(ramps(24, 1))
    halves = [history.rnics_between(slice(0, 12)), history.rnics_between(slice(12, 24))]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        boosters = distributed.fit(client, [dask.delayed(half) for half in halves], every_min=5, rounds=10)
    assert "egress_masks" in boosters
    assert set(boosters) <= {t.name for t in targets()}
    low, middle, high = boosters["egress_masks"]
    some = examples_of(make_history(ramps(12, 2)), every_min=10)[column("egress_masks")]
    inside = (some.labels >= low.predict(some.rows)) & (some.labels <= high.predict(some.rows))
    assert inside.mean() > 0.7
    assert np.abs(some.labels - middle.predict(some.rows)).mean() < np.abs(some.labels - np.mean(some.labels)).mean()
