"""`Q_r` of histories: the peers of an RNIC, and the lookups of its packets there."""

import numpy as np
import polars as pl
import pytest

from wallwatch.domain.forecast.peers import Report, join, weights
from wallwatch.domain.forecast.targets import column
from wallwatch.forecasting.histories.assemble import history
from wallwatch.forecasting.histories.peer_queries import REPORTS

PCI = "0000:17:00.0"
NAN = float("nan")


def test_a_sender_through_deep_masks_meets_more_than_the_mean_of_all_senders_and_follows_it() -> None:
    reports = {
        0: Report("b=100", 0.0, "a"),
        1: Report("", 0.0, "b", "a=20/3 c=0/0", q_ingress=10.0),
        2: Report("b=50", 0.0, "c"),
    }
    by = weights(reports, 3)
    now = join(by, np.array([1.0, 10.0, 1.0]), np.array([0.0, 9.0, 0.0]))
    assert now.mean.tolist() == [20.0, 10.0, 0.0]
    assert now.spread.tolist() == [3.0, 9.0, 0.0]
    assert now.of_peers.tolist() == [True, False, True]
    assert join(by, np.array([1.0, 14.0, 1.0]), np.zeros(3)).mean[0] == 24.0


def test_without_peers_that_are_known_the_own_ingress_chain_stands_in() -> None:
    by = weights({0: Report("x=90 b=10", 10.0, "a"), 1: Report("a=5", 0.0, "b")}, 2)
    found = join(by, np.array([3.0, NAN]), np.zeros(2))
    assert found.mean[0] == 3.0
    assert found.mean[1] == 3.0
    assert found.of_peers.tolist() == [False, True]


def test_an_address_that_half_of_the_fleet_claims_is_nobodys() -> None:
    reports = {row: Report("b=10", 0.0, "b") for row in range(20)}
    by = weights(reports, 20)
    assert len(by.packets) == 0
    assert by.elsewhere.tolist() == [10.0] * 20


@pytest.mark.parametrize("peers", ["", "b", "b=", "=5", "b=-1", "b=inf", "b=1=x"])
def test_damaged_reports_leave_no_peers(peers: str) -> None:
    assert len(weights({0: Report(peers, 0.0, "a"), 1: Report("", 0.0, "b")}, 2).packets) == 0


def test_a_history_joins_each_minute_by_the_report_before_it_and_asks_rnics_beyond_it() -> None:
    minutes = [*range(100, 104)] * 2
    samples = pl.DataFrame(
        {"host": ["h1"] * 4 + ["far"] * 4, "pci": [PCI] * 8, "minute": minutes, "q_ingress": [1.0] * 4 + [5.0, 6.0, 7.0, 8.0]}
    )
    rows = [
        ("h1", PCI, 101, "b=10", 0.0, "a", None, None),
        ("far", PCI, 101, None, None, "b", "a=6/1", 5.0),
        ("h1", PCI, 103, "x=10", 0.0, "a", None, None),
    ]
    reports = pl.DataFrame(rows, schema=REPORTS, orient="row")
    found = history(samples, pl.DataFrame(), {("h1", PCI): "CX-6"}, reports=reports)
    assert found.values[0, :, column("q_r")].tolist() == [6.0, 7.0, 8.0, 1.0]
    assert found.of_peers[0].tolist() == [True, True, True, False]
    assert found.spread[0, :3, 1].tolist() == [1.0, 1.0, 1.0]
