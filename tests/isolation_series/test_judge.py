"""The judge counts what it should: an oracle gets everything right, silence misses all, noise is counted."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.isolation_series.bars import BARS, missed_bars
from tests.isolation_series.judge import Score, judge
from tests.isolation_series.kinds import KINDS, make
from tests.isolation_series.naive import naive
from tests.isolation_series.page import FIGURES, PAGE, figures, page
from tests.isolation_series.product import Answer, Said, promises, read
from tests.isolation_series.run import Result, Task
from tests.isolation_series.series import Series


def oracle(series: Series) -> Answer:
    """Says what is true."""
    intervals = series.telemetry.intervals()
    broken = {
        round(one.t, 3): Said(tuple(one.victims), tuple(one.aggressors), one.mechanism) for one in intervals if one.broken and not one.gap
    }
    return Answer(broken, frozenset(round(one.t, 3) for one in intervals if one.gap), ())


@pytest.mark.parametrize("kind", list(KINDS))
def test_who_says_the_truth_reaches_every_bar(kind: str) -> None:
    series = make(kind, 2)
    score = judge(series, oracle(series))
    assert missed_bars(kind, score) == []
    assert (score.missed, score.invented, score.wrong) == (0, 0, [])


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        ("packet storm", lambda said: {}),
        ("packet storm", lambda said: {t: replace(one, aggressors=(*one.aggressors, "vf99")) for t, one in said.items()}),
        ("packet storm", lambda said: {t: replace(one, mechanism="pcie") for t, one in said.items()}),
        ("egress blocking", lambda said: dict(list(said.items())[len(said) // 10 :])),
        ("near miss", lambda said: {t: Said(("vf1",), ("vf0",), None) for t in (5.0, 1005.0, 6.0, 1_790_000_005.0)}),
    ],
)
def test_each_mistake_misses_a_bar(kind: str, spoil: Callable[[dict[float, Said]], dict[float, Said]]) -> None:
    series = make(kind, 1)
    right = oracle(series)
    score = judge(series, Answer(spoil(dict(right.broken)), right.unknown, ()))
    assert missed_bars(kind, score)
    assert score.wrong


def test_gaps_have_to_be_unknown_and_numbers_possible() -> None:
    series = make("dirty", 1)
    right = oracle(series)
    assert any("gaps unknown" in words for words in missed_bars("dirty", judge(series, replace(right, unknown=frozenset()))))
    assert any("giant" in words for words in missed_bars("dirty", judge(series, replace(right, absurd=("rx_bps = -1",)))))


def test_the_naive_rule_reports_near_misses() -> None:
    series = make("near miss", 1)
    assert judge(series, naive(series)).invented > 100


def test_numbers_that_cannot_be_are_found_in_what_is_printed() -> None:
    printed = {
        "seconds": [{"t": 3, "victims": ["vf0"], "aggressors": ["vf1"], "mechanism": "pcie", "vfs": [{"rx_bps": -4.0, "tx_bps": 1e9}]}],
        "unknown": [7],
        "counts": {"late": 0},
    }
    answer = read(json.loads(json.dumps(printed)), 1e10)
    assert answer.broken == {3.0: Said(("vf0",), ("vf1",), "pcie")}
    assert answer.unknown == {7.0}
    assert answer.absurd == ("rx_bps = -4.0",)


def test_the_promises_name_every_vf_and_no_hidden_constant() -> None:
    series = make("egress blocking", 1)
    slo = promises(series)
    assert set(slo) == {"nic_bps", "slo"}
    assert set(slo["slo"]) == {one.name for one in series.tenants}
    assert all(set(one) <= {"min_bps", "max_bps", "p50_us", "p99_us", "loss", "policed_bps"} for one in slo["slo"].values())


def test_the_page_shows_every_bar_with_what_was_reached() -> None:
    results = [Result(Task(kind, 1), Score(series=1, judged=10, right=9, missed=1, aggressors_right=9), Score(series=1)) for kind in KINDS]
    text = page(figures(results))
    assert text.count("| packet storm | ") == len(BARS["packet storm"]) + 2
    assert "| packet storm | recall ≥ 0.99 | 0.9000 | **no** |" in text
    assert "| packet storm | precision ≥ 0.99 | 1.0000 | yes |" in text


@pytest.mark.skipif(not FIGURES.exists(), reason="no figures are stored yet: python -m tests.isolation_series --write")
def test_the_page_is_what_the_stored_figures_make() -> None:
    assert PAGE.read_text() == page(json.loads(FIGURES.read_text()))
